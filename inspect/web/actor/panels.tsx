import { useState } from 'preact/hooks';
import type { ActorAnswer, MomentAnswer } from '../../server/contract.ts';
import { Empty, Failure } from '../shell/notice.tsx';
import { ChangePanel } from './changePanel.tsx';
import { NextPanel } from './nextPanel.tsx';
import { ValueTree } from './valueTree.tsx';
import { WhyPanel } from './whyPanel.tsx';

type Moment = Extract<MomentAnswer, { known: true }>;

interface PanelsProps {
  readonly answer: ActorAnswer;
  readonly past: boolean;
  readonly moment: Moment | undefined;
  readonly before: Moment | undefined;
  readonly failure: Error | undefined;
}

const panels = [
  { name: 'why', label: 'Why' },
  { name: 'next', label: 'Next' },
  { name: 'change', label: 'Change' },
  { name: 'context', label: 'Context' },
  { name: 'evidence', label: 'Evidence' },
] as const;
type PanelName = (typeof panels)[number]['name'];

export function Panels(props: PanelsProps) {
  const [chosen, choose] = useState<PanelName>('why');
  return (
    <section class="panels" aria-label="About this actor">
      <div role="tablist" aria-label="About this actor">
        {panels.map(({ name, label }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={chosen === name}
            aria-controls="panel"
            tabIndex={chosen === name ? 0 : -1}
            onClick={() => choose(name)}
            onKeyDown={(event) => {
              const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
              if (by === undefined) return;
              event.preventDefault();
              event.stopPropagation();
              const next = panels[(index + by + panels.length) % panels.length]!;
              choose(next.name);
              document.getElementById(`tab-${next.name}`)?.focus();
            }}
          >
            {label}
          </button>
        ))}
      </div>
      <div id="panel" role="tabpanel" aria-labelledby={`tab-${chosen}`} tabIndex={0}>
        <Panel chosen={chosen} {...props} />
      </div>
    </section>
  );
}

function Panel({ chosen, answer, past, moment, before, failure }: PanelsProps & { readonly chosen: PanelName }) {
  if (chosen === 'why' || chosen === 'next') {
    if (past)
      return <Empty title="This is said of now only. The change and the context are of the moment you look at." />;
    return chosen === 'why' ? (
      <WhyPanel explanation={answer.explanation} />
    ) : (
      <NextPanel next={answer.explanation.next} />
    );
  }
  if (failure !== undefined) return <Failure error={failure} />;
  if (chosen === 'change') {
    if (moment === undefined) return <Empty title="Nothing is kept of how it came to this." />;
    return (
      <ChangePanel
        event={moment.event}
        before={before?.context}
        after={moment.context}
        transitions={moment.transitions}
      />
    );
  }
  const context = past ? moment?.context : answer.context;
  if (chosen === 'context') return <ValueTree value={context ?? {}} marked={new Set(moment?.changed)} />;
  if (past) return <Empty title="Evidence is shown as it is now only." />;
  if (answer.evidence.length === 0) return <Empty title="It holds no evidence yet." />;
  return <ValueTree value={Object.fromEntries(answer.evidence.map(({ name, value }) => [name, value]))} />;
}
