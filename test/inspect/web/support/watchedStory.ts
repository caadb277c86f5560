/** A story of one Goal, and a page that follows it. */
import { testDaemon } from '../../../support/daemon.ts';
import { enter, type SharedBrowser } from './browser.ts';
import { openInspector, storyDaemonCommand } from './story.ts';

export async function watchedStory(browser: SharedBrowser) {
  const daemon = await testDaemon().start(storyDaemonCommand());
  const { goalId, generationId } = await daemon.goal();
  const url = await openInspector(daemon);
  const watched = await browser.open();
  await enter(watched, url);
  return { daemon, goalId, generationId, url, watched, page: watched.page };
}
