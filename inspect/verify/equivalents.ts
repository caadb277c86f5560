/** Mutants that change nothing that anybody could notice, by name, each with the reason; a test holds every one of them. */
export const equivalents: Readonly<Record<string, string>> = {
  'executionScope.noGap := true':
    'whatever records a gap leads to unverified.gap or stays there, and only a proof leads out, so a scope that is unverified just now has none (the invariant OWN-06 of every configuration); the guard is for rows that somebody has edited',
};
