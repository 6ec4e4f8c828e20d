import { findMissing, type MissingNode } from "#lib/tools/browser/read/accessibility-testing.ts";
import { takeSnapshot } from "#lib/tools/browser/read/take-snapshot.ts";
import { waitForEffects } from "#lib/tools/browser/report/wait-for-effects.ts";
import { startTestBrowser } from "#lib/tools/browser/test-fixture.ts";
import type { Task } from "../task.ts";
import { startTaskSite } from "../task-site.ts";
import { buildLibraryPages } from "./build-pages.ts";

/** The comparison of one page: the size of its snapshot, and what the snapshot does not have. */
type ComparedPage = { id: string; characters: number; missing: MissingNode[] };

/** Compares the snapshots of tasks' pages with the accessibility trees of DevTools. */
export async function comparePages(
  tasks: readonly Task[],
  log: (text: string) => void,
): Promise<ComparedPage[]> {
  const site = await startTaskSite(tasks, await buildLibraryPages(log));
  const browser = await startTestBrowser();
  try {
    const compared: ComparedPage[] = [];
    for (const task of tasks) {
      const mark = { position: browser.live.activity.position(), sinceMs: performance.now() };
      await browser.live.page().goto(site.urlOf(task));
      await waitForEffects(browser.live, { ...mark, isRestAwaited: true }, new AbortController().signal);
      const { lines } = await takeSnapshot(browser.live);
      const missing = await findMissing(browser.live.page(), lines);
      compared.push({ id: task.id, characters: lines.join("\n").length, missing });
    }
    return compared;
  } finally {
    await Promise.all([browser.close(), site.close()]);
  }
}

/** Formats the comparison: for each page, what is left out and why, and what is missing without a reason. */
export const formatComparison = (pages: readonly ComparedPage[]): string =>
  pages
    .map(({ id, characters, missing }) => {
      const counts = new Map<string, number>();
      for (const { reason } of missing)
        if (reason !== null) counts.set(reason, (counts.get(reason) ?? 0) + 1);
      return [
        `${id}: ${characters} characters`,
        ...[...counts].map(([reason, count]) => `  left out ${count} times: ${reason}`),
        ...missing
          .filter(({ reason }) => reason === null)
          .map(({ role, what, text }) => `  MISSING ${role}, ${what} ${JSON.stringify(text.slice(0, 200))}`),
      ].join("\n");
    })
    .join("\n");
