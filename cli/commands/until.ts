import { Option } from 'commander';

/** One word for one condition, wherever the end of a run is waited for. */
export const untilOption = (description: string): Option =>
  new Option('--until <condition>', description).choices(['ended', 'proved']);
