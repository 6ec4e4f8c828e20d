import type { PageKit } from "#lib/tools/browser/page-kit/page-kit.ts";
import type { ExaminedChange } from "../examined-changes.ts";
import type { Verdict, Verifier } from "./verify-changes.ts";

/** The history of one change in one document. */
type ChangeTrack = {
  /** Time of the first application in milliseconds since navigation start; null before. */
  appliedAtMs: number | null;
  /** How often the page undid the change. */
  losses: number;
};

/** When a page is at rest; all in milliseconds. */
export type QuietPage = {
  /** Time without a change of the document. */
  quietMs: number;
  /** Time after the load event, because scripts continue after it. */
  loadedMs: number;
  /** Time since navigation start. */
  ageMs: number;
  maxMs: number;
};

/** The check's observer in a document, in a world that the page's scripts cannot reach. */
export type PageWatch = {
  changes: ExaminedChange[];
  newKit: () => PageKit;
  verifier: Verifier;
  track: (id: string) => ChangeTrack;
  verdicts: (isThorough: boolean) => Record<string, Verdict>;
  /**
   * Resolves when the page has loaded for some time and nothing has changed for a while, at the latest after `maxMs`.
   * @returns milliseconds since navigation start.
   */
  untilQuiet: (wanted: QuietPage) => Promise<number>;
  /** Resolves when the changes of these ids are applied, at the latest after `maxMs`. @returns whether they are. */
  untilApplied: (ids: string[], maxMs: number) => Promise<boolean>;
  /** Cumulative layout shift that no input caused. */
  layoutShift: () => number;
};

/**
 * Follows changes from the start of a document. Runs inside the page, sent as source: it uses nothing from outside its
 * own body.
 */
export function watchPage(changes: ExaminedChange[], newKit: () => PageKit, verifier: Verifier): PageWatch {
  /** Share of the time that scans of a large page may take. */
  const SHARE_MAX = 0.2;
  const POLL_MS = 5;
  const tracks = new Map<string, ChangeTrack & { isApplied: boolean }>(
    changes.map(({ id }) => [id, { appliedAtMs: null, losses: 0, isApplied: false }]),
  );
  const observed = new WeakSet<Node>();
  let changedAtMs = performance.now();
  let nextScanMs = 0;
  let shift = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const observer = new MutationObserver(() => {
    changedAtMs = performance.now();
    scanSoon();
  });
  const observe = (root: Node) => {
    if (observed.has(root)) return;
    observed.add(root);
    observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  };
  const scan = () => {
    clearTimeout(timer);
    timer = undefined;
    const startMs = performance.now();
    const kit = newKit();
    for (const root of kit.roots()) observe(root);
    verifier.follow(kit);
    for (const change of changes) {
      const track = tracks.get(change.id);
      const { isApplied } = verifier.verify(kit, change, false);
      if (!track || track.isApplied === isApplied) continue;
      if (isApplied) track.appliedAtMs ??= performance.now();
      else track.losses += 1;
      track.isApplied = isApplied;
    }
    const tookMs = performance.now() - startMs;
    nextScanMs = startMs + tookMs / SHARE_MAX;
  };
  const scanSoon = () => {
    const waitMs = nextScanMs - performance.now();
    if (waitMs <= 5) scan();
    else timer ??= setTimeout(scan, waitMs);
  };
  const wait = () => new Promise((resolve) => setTimeout(resolve, POLL_MS));

  observe(document);
  document.addEventListener("readystatechange", scan);
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & {
      value: number;
      hadRecentInput: boolean;
    })[])
      if (!entry.hadRecentInput) shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });

  const verdicts: PageWatch["verdicts"] = (isThorough) => {
    const kit = newKit();
    verifier.follow(kit);
    return Object.fromEntries(changes.map((change) => [change.id, verifier.verify(kit, change, isThorough)]));
  };
  return {
    changes,
    newKit,
    verifier,
    verdicts,
    track: (id) => tracks.get(id) ?? { appliedAtMs: null, losses: 0 },
    async untilQuiet({ quietMs, loadedMs, ageMs, maxMs }) {
      const startMs = performance.now();
      changedAtMs = Math.max(changedAtMs, startMs);
      const [navigation] = performance.getEntriesByType("navigation");
      const loadEndMs = () =>
        (navigation as PerformanceNavigationTiming | undefined)?.loadEventEnd || startMs;
      const isQuiet = () => {
        const nowMs = performance.now();
        return nowMs - changedAtMs >= quietMs || nowMs - startMs >= maxMs;
      };
      const isOld = () => performance.now() >= Math.max(ageMs, loadEndMs() + loadedMs);
      while (!isOld() || !isQuiet()) await wait();
      return performance.now();
    },
    async untilApplied(ids, maxMs) {
      const startMs = performance.now();
      const isDone = () => {
        const current = verdicts(false);
        return ids.every((id) => current[id]?.isApplied === true);
      };
      let isApplied = isDone();
      // On a busy machine the page and the runtime run less often, so a minimum number of polls is required too.
      const turnsMin = maxMs / POLL_MS / 2;
      for (
        let turns = 0;
        !isApplied && (performance.now() - startMs < maxMs || turns < turnsMin);
        turns += 1
      ) {
        await wait();
        isApplied = isDone();
      }
      return isApplied;
    },
    layoutShift: () => shift,
  };
}
