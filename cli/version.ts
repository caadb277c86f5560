import manifest from '../package.json' with { type: 'json' };

/** Of this program; a daemon that was started earlier may be another. */
export const version: string = manifest.version;
