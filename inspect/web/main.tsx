import { render } from 'preact';
import { enter } from './data/server.ts';
import { followUpdates } from './data/updates.ts';
import { App } from './shell/app.tsx';
import './shell/theme.ts';

await enter();
render(<App />, document.getElementById('page')!);
await followUpdates();
