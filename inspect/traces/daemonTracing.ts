/** Tracing in a daemon: with a provider that somebody has registered before, or with the small one that its environment asks for. */
import { trace } from '@opentelemetry/api';
import type { Tracing } from '../../actors/daemon/tracing.ts';
import { Exporter } from './exporter.ts';
import { SmallProvider } from './provider.ts';
import { traceSettings } from './settings.ts';
import { traceCommits } from './tracing.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export const tracingIn =
  (env: Environment): Tracing =>
  ({ host, store, log, version, clock }) => {
    const settings = traceSettings(env);
    if (settings.state === 'refused') log.warn({ why: settings.why }, 'spans are not sent');
    const exporter =
      settings.state === 'on'
        ? new Exporter({
            url: settings.url,
            resource: {
              'service.name': settings.serviceName,
              'service.version': version,
              'custody.installation.id': store.installationId,
            },
            onLoss: (spans, reason) => log.warn({ spans, reason }, 'spans were lost'),
          })
        : undefined;
    // Whoever was registered first stays.
    if (exporter !== undefined && !trace.setGlobalTracerProvider(new SmallProvider((span) => exporter.add(span))))
      log.warn({}, 'another provider of traces is registered; the endpoint is not used');
    const stop = traceCommits({
      ...{ host, store, version },
      wallMs: () => clock.now().wallMs,
      monoMs: () => clock.monoMs(),
      onLoss: (lives, reason) => log.warn({ lives, reason }, 'lives were not traced'),
      onFault: (error) => log.error({ error: (error as Error).name }, 'a life could not be traced'),
    });
    return {
      finish: stop,
      close: async () => {
        if (exporter === undefined) return;
        trace.disable();
        await exporter.close();
      },
    };
  };
