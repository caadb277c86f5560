/**
 * The joint states of a configuration and what leads from one to the next, worked out when it is asked for and kept. What a
 * word does depends on the records alone, and what may be said and what moves on the truth alone (bar a permission), so
 * hardly anything is worked out twice.
 */
import { canonicalJson } from '../../machines/canonical.ts';
import type { Charts } from './charts.ts';
import type { AnyConfiguration, Invariant, Records, Step } from './model.ts';
import { type Called, System } from './system.ts';

interface RecordRow {
  /** Number of the records after each word; `unasked`, or `silent` where nobody can say it. */
  readonly nexts: Int32Array;
  readonly permits: Uint8Array;
  /** Bits of the invariants whose claim about the world is made. */
  readonly claims: number;
  /** The invariant that these records break, or -1. */
  readonly broken: number;
  readonly isBeyond: boolean;
}

interface WorldRow {
  readonly words: readonly number[];
  readonly moves: ReadonlyArray<{ readonly move: number; readonly next: number }>;
  /** Bits of the invariants whose claim is not so. */
  readonly belied: number;
}

const unasked = -2;
const silent = -1;
const mostClaims = 30;

// biome-ignore lint/suspicious/noExplicitAny: every configuration has a truth of its own
type AnyTruth = any;

/** The law that every word has beside its own: what is due to it. */
const dueLaw: Invariant<AnyTruth> = {
  id: 'due',
  title: 'what the protocol has to accept is accepted, and what it has to refuse changes nothing and is not recorded',
};

export class Space {
  readonly configuration: AnyConfiguration;
  readonly system: System;
  readonly invariants: readonly Invariant<AnyTruth>[];
  readonly #claiming: readonly number[];
  readonly #rows: Array<RecordRow | undefined> = [];
  readonly #worlds: AnyTruth[] = [];
  readonly #worldRows: WorldRow[] = [];
  readonly #worldNumbers = new Map<string, number>();
  /** By records and word, the invariant that the call breaks. */
  readonly #brokenCalls = new Map<number, number>();
  readonly #words: number;
  /** What was delivered by a relay, as `from → to: type`. */
  readonly relayed = new Set<string>();
  /** Names of the words that changed something somewhere. */
  readonly spoken = new Set<string>();

  constructor(configuration: AnyConfiguration, charts: Charts) {
    this.configuration = configuration;
    this.system = new System(configuration, charts);
    this.invariants = [...configuration.invariants, dueLaw];
    this.#claiming = [...this.invariants.keys()].filter((index) => this.invariants[index]?.belied !== undefined);
    if (this.#claiming.length > mostClaims) throw new Error('too many claims for the bits of a number');
    this.#words = configuration.words.length;
    this.worldNumber(configuration.truth);
  }

  get worlds(): number {
    return this.#worlds.length;
  }

  truth(world: number): AnyTruth {
    return this.#worlds[world];
  }

  worldRow(world: number): WorldRow {
    let row = this.#worldRows[world];
    if (row === undefined) {
      row = this.#observedWorld(this.#worlds[world]);
      this.#worldRows[world] = row;
    }
    return row;
  }

  recordRow(record: number): RecordRow {
    let row = this.#rows[record];
    if (row === undefined) {
      row = this.#judgedRecords(this.system.records(record));
      this.#rows[record] = row;
    }
    return row;
  }

  /** Number of the records after a word, or -1 where nothing comes of it. */
  after(record: number, word: number): number {
    const { nexts } = this.recordRow(record);
    let next = nexts[word] as number;
    if (next === unasked) {
      next = this.#answer(record, word);
      nexts[word] = next;
    }
    return next;
  }

  /** The invariant that this call breaks, or -1. */
  brokenBy(record: number, word: number): number {
    return this.#brokenCalls.size === 0 ? -1 : (this.#brokenCalls.get(record * this.#words + word) ?? -1);
  }

  /** The invariant that this state breaks, or -1. */
  brokenIn(record: number, world: number): number {
    const row = this.recordRow(record);
    if (row.broken >= 0) return row.broken;
    const belied = row.claims & this.worldRow(world).belied;
    return belied === 0 ? -1 : (this.#claiming[31 - Math.clz32(belied & -belied)] as number);
  }

  /** The call of a word once more, for a story: who said what to whom, and what came of it. */
  callOf(record: number, word: number): Called | undefined {
    const events = this.configuration.words[word]?.call(this.system.records(record));
    return events && this.system.call(record, events);
  }

  worldNumber(truth: AnyTruth): number {
    const key = canonicalJson(truth);
    const known = this.#worldNumbers.get(key);
    if (known !== undefined) return known;
    this.#worldNumbers.set(key, this.#worlds.length);
    return this.#worlds.push(truth) - 1;
  }

  #observedWorld(truth: AnyTruth): WorldRow {
    const { words, moves } = this.configuration;
    const possible = [...moves.entries()].filter(([, move]) => move.when(truth));
    const belied = this.#claiming.map((index) => this.invariants[index]?.belied?.(truth) === true);
    return {
      words: [...words.keys()].filter((index) => words[index]?.when?.(truth) ?? true),
      moves: possible.map(([move, { next }]) => ({ move, next: this.worldNumber(next(truth)) })),
      belied: bitsOf(belied),
    };
  }

  #judgedRecords(records: Records): RecordRow {
    const { moves, isBeyond } = this.configuration;
    return {
      nexts: new Int32Array(this.#words).fill(unasked),
      permits: Uint8Array.from(moves, ({ needs }) => ((needs?.(records) ?? true) ? 1 : 0)),
      claims: bitsOf(this.#claiming.map((index) => this.invariants[index]?.claims?.(records) ?? true)),
      broken: this.invariants.findIndex(({ holds }) => holds?.(records) === false),
      isBeyond: isBeyond?.(records) ?? false,
    };
  }

  #answer(record: number, index: number): number {
    const word = this.configuration.words[index] as AnyConfiguration['words'][number];
    const before = this.system.records(record);
    const events = word.call(before);
    if (events === undefined) return silent;
    const called = this.system.call(record, events);
    const due = typeof word.due === 'function' ? word.due(before) : (word.due ?? 'any');
    const isAsDue = due === 'any' || (due === 'refused') === called.isRefused;
    if (isAsDue && called.isRefused) return silent;
    if (!isAsDue) this.#brokenCalls.set(record * this.#words + index, this.invariants.length - 1);
    if (called.next === record) return isAsDue ? silent : record;
    const step: Step = {
      ...{ before, after: this.system.records(called.next), name: word.name, isClock: word.isClock ?? false },
      ...{ deliveries: called.deliveries, effects: called.effects },
    };
    const broken = this.invariants.findIndex(({ keeps }) => keeps?.(step) === false);
    if (broken >= 0) this.#brokenCalls.set(record * this.#words + index, broken);
    this.#note(word.name, step);
    return called.next;
  }

  #note(name: string, { deliveries }: Step): void {
    this.spoken.add(name);
    for (const { from, to, event, outcome } of deliveries)
      if (from !== null && outcome !== 'refused')
        this.relayed.add(`${this.#kindOf(from)} → ${this.#kindOf(to)}: ${event.type}`);
  }

  #kindOf(id: string): string {
    return this.configuration.cast.find((member) => member.id === id)?.kind ?? id;
  }
}

const bitsOf = (answers: readonly boolean[]): number =>
  answers.reduce((bits, answer, index) => (answer ? bits | (1 << index) : bits), 0);
