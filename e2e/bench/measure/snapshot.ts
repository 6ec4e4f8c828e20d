import { takeSnapshot } from "#lib/tools/browser/read/take-snapshot.ts";
import { startSite, startTestBrowser } from "#lib/tools/browser/test-fixture.ts";
import { median, medianRatio } from "../statistics.ts";
import type { Measurement, Row } from "../types.ts";

const ROUNDS = 5;
/** A page with about 10,000 elements. */
const PAGE = `<title>Entries</title><ul>${"<li><a href=#>Entry</a> <span>words</span></li>".repeat(3_333)}</ul>`;

/** Measures the agent's snapshot of a large page, relative to Playwright's own snapshot for agents. */
async function measureSnapshot(): Promise<Row[]> {
  const [browser, site] = await Promise.all([startTestBrowser(), startSite({ "/": PAGE })]);
  try {
    const page = browser.live.page();
    await page.goto(site.url);
    const times: [ours: number, theirs: number][] = [];
    const chars = { ours: 0, theirs: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const beganMs = performance.now();
      chars.ours = (await takeSnapshot(browser.live)).lines.join("\n").length;
      const halfMs = performance.now();
      chars.theirs = (await page.ariaSnapshot({ mode: "ai" })).length;
      times.push([halfMs - beganMs, performance.now() - halfMs]);
    }
    return [
      {
        what: "time of a snapshot of 10,000 elements, relative to Playwright's",
        value: medianRatio(times),
        unit: "×",
        target: { atMost: 0.5 },
        behind: {
          "ours ms": Math.round(median(times.map(([ours]) => ours))),
          "Playwright's ms": Math.round(median(times.map(([, theirs]) => theirs))),
        },
      },
      {
        what: "characters of that snapshot, relative to Playwright's",
        value: chars.ours / chars.theirs,
        unit: "×",
        target: { atMost: 0.4 },
        behind: chars,
      },
    ];
  } finally {
    await Promise.all([browser.close(), site.close()]);
  }
}

export const snapshotMeasurement: Measurement = { name: "snapshot", seconds: 25, measure: measureSnapshot };
