import type { Dom, PageNode } from "#lib/dom/make-dom.ts";
import type { PageKit } from "../page-kit/page-kit.ts";
import type { ExaminedChange } from "./examined-change.ts";
import type { Verdict, Verifier } from "./verify-changes.ts";

/** The history of one change in one document. */
type ChangeTrack = {
  /** Time at which an element of the change was first there, in milliseconds since navigation start. */
  matchedAtMs: number | null;
  /** Time at which the change was first applied, in milliseconds since navigation start. Null until then. */
  appliedAtMs: number | null;
  /** How often the page undid the change. */
  losses: number;
};

/** Conditions under which a page counts as quiet. All values are in milliseconds. */
export type QuietPage = {
  /** Minimum time since the document last changed. */
  quietMs: number;
  /** Minimum time since the load event, because scripts continue after it. */
  loadedMs: number;
  /** Minimum time since navigation start. */
  ageMs: number;
  maxMs: number;
};

/** Observes the changes in a document. */
export type DocumentWatch = {
  changes: ExaminedChange[];
  /** Address of the variant's script. The element that loads it belongs neither to the page nor to a change. */
  tagUrl: string;
  newKit: () => PageKit;
  verifier: Verifier;
  track: (id: string) => ChangeTrack;
  verdicts: (isThorough: boolean) => Record<string, Verdict>;
  /**
   * Resolves when the page is old enough and its document has stopped changing. Stops waiting for the second condition
   * after `maxMs`.
   *
   * @returns milliseconds since navigation start.
   */
  untilQuiet: (wanted: QuietPage) => Promise<number>;
  /**
   * Resolves when the changes with these ids are applied, or when the time limit `maxMs` has passed. On a busy machine,
   * the wait may last longer than `maxMs`. Returns whether all of these changes are applied.
   */
  untilApplied: (ids: string[], maxMs: number) => Promise<boolean>;
  /** Cumulative layout shift, without shifts that user input caused. */
  layoutShift: () => number;
  /** Duration of the longest task so far, in milliseconds. Tasks shorter than 50 ms count as 0. */
  longestTask: () => number;
};

/**
 * Observes from the start of a document whether changes are applied.
 */
export function watchDocument(
  dom: Dom,
  changes: ExaminedChange[],
  tagUrl: string,
  newKit: () => PageKit,
  verifier: Verifier,
): DocumentWatch {
  /** Maximum share of time that may be spent on scanning the document, so that large pages stay responsive. */
  const SHARE_MAX = 0.2;
  const POLL_MS = 5;
  const tracks = new Map<string, ChangeTrack & { isApplied: boolean }>(
    changes.map(({ id }) => [id, { matchedAtMs: null, appliedAtMs: null, losses: 0, isApplied: false }]),
  );
  const observed = new WeakSet<PageNode>();
  let changedAtMs = performance.now();
  let nextScanMs = 0;
  let shift = 0;
  let longestTask = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const observer = new MutationObserver(() => {
    changedAtMs = performance.now();
    scanSoon();
  });
  const observe = (root: PageNode) => {
    if (observed.has(root)) return;
    observed.add(root);
    // The cast is safe: the roots are documents and shadow roots.
    observer.observe(root as Node, { subtree: true, childList: true, attributes: true, characterData: true });
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
      if (track && verifier.hasMatched(change)) track.matchedAtMs ??= performance.now();
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
  dom.addEventListener(document, "readystatechange", scan);
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & {
      value: number;
      hadRecentInput: boolean;
    })[])
      if (!entry.hadRecentInput) shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });

  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longestTask = Math.max(longestTask, duration);
  }).observe({ type: "longtask", buffered: true });

  const verdicts: DocumentWatch["verdicts"] = (isThorough) => {
    const kit = newKit();
    verifier.follow(kit);
    return Object.fromEntries(changes.map((change) => [change.id, verifier.verify(kit, change, isThorough)]));
  };
  return {
    changes,
    tagUrl,
    newKit,
    verifier,
    verdicts,
    track(id) {
      const { matchedAtMs = null, appliedAtMs = null, losses = 0 } = tracks.get(id) ?? {};
      return { matchedAtMs, appliedAtMs, losses };
    },
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
      // On a busy machine, the page gets little time to run. If the changes are not applied, the wait therefore ends
      // only after a minimum number of polls, even if `maxMs` have passed.
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
    longestTask: () => longestTask,
  };
}

/** @see DocumentWatch */
export const untilQuiet = (watch: DocumentWatch, wanted: QuietPage): Promise<number> =>
  watch.untilQuiet(wanted);

/** @see DocumentWatch */
export const untilApplied = (watch: DocumentWatch, { ids, maxMs }: { ids: string[]; maxMs: number }) =>
  watch.untilApplied(ids, maxMs);
