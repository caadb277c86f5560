/** Mutants that change nothing that anybody could notice, by name, each with the reason; a test holds every reason. */
export const equivalents: Readonly<Record<string, string>> = {};
