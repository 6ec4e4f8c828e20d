import type { OpenTurn } from "#lib/session/store/run-store.ts";
import type { BrowserRecords } from "../browser-records.ts";
import type { SessionBrowser } from "./session-browser.ts";
import type { SessionBrowsers } from "./session-browsers.ts";

/**
 * A browser that an open turn of the agent has used within this time is not ended, even if other sessions wait. A
 * parked (paused) turn does not count as open here.
 */
const EVICTION_IDLE_MS = 30_000;

type UnusedParts = {
  deps: { records: BrowserRecords; idleMs: number };
  browsers: SessionBrowsers;
  nowMs: () => number;
};

/**
 * Ends browsers that were not used for `deps.idleMs`. A parked (paused) turn keeps its browser until another session
 * needs the place, so that input on the page is not lost. A browser that a working sub-agent shares is not ended.
 *
 * @returns the number of browsers ended.
 */
export async function endIdle({ deps, browsers, nowMs }: UnusedParts): Promise<number> {
  const idle = browsers
    .list()
    .filter(([, browser]) => browser.isUnused() && browser.idleMs(nowMs()) >= deps.idleMs);
  const unshared = await omitShared(deps.records, idle);
  const turns = new Map(await deps.records.findOpenTurns(idsOf(unshared)));
  const ended = unshared.filter(
    ([sessionId, browser]) => turns.get(sessionId) !== "parked" && browser.isUnused(),
  );
  await Promise.all(ended.map(([, browser]) => browser.end()));
  return ended.length;
}

/**
 * Ends up to `count` unused browsers that no working sub-agent shares, in the order of {@link orderForEnding}.
 * @returns the number of browsers ended.
 */
export async function endUnused({ deps, browsers, nowMs }: UnusedParts, count: number): Promise<number> {
  const idle = browsers.list().filter(([, browser]) => browser.isUnused());
  if (idle.length === 0) return 0;
  const unshared = await omitShared(deps.records, idle);
  const turns = new Map(await deps.records.findOpenTurns(idsOf(unshared)));
  const ordered = orderForEnding(
    unshared.map(([sessionId, browser]) => ({
      browser,
      turn: turns.get(sessionId),
      idleMs: browser.idleMs(nowMs()),
    })),
    Math.min(deps.idleMs, EVICTION_IDLE_MS),
  );
  // A tool call may have begun while the database was queried.
  const ended = ordered.filter(({ browser }) => browser.isUnused()).slice(0, count);
  await Promise.all(ended.map(({ browser }) => browser.end()));
  return ended.length;
}

type Entry = [sessionId: string, browser: SessionBrowser];

const idsOf = (entries: Entry[]): string[] => entries.map(([sessionId]) => sessionId);

/** Omits browsers whose page a working sub-agent shares. */
async function omitShared(records: BrowserRecords, entries: Entry[]): Promise<Entry[]> {
  const shared = new Set(await records.listSharedInUse(idsOf(entries)));
  return entries.filter(([sessionId]) => !shared.has(sessionId));
}

/** A browser that is not in use: no tool call holds it, no viewer watches it, and no navigation is in progress. */
type UnusedBrowser = {
  /** Time since the last use of the browser, in milliseconds. */
  idleMs: number;
  /** State of the open turn of the browser's session. Undefined if no turn is open. */
  turn: OpenTurn | undefined;
};

/**
 * Orders the browsers that can be ended while other sessions wait. First come browsers of sessions without an open
 * turn, then browsers of parked (paused) turns, then browsers that an open turn has not used for `idleMinMs`. Within
 * each group, the browsers that were idle for longest come first. A browser that an open turn used more recently is
 * left out, because text that was typed into its page would be lost.
 */
export function orderForEnding<Unused extends UnusedBrowser>(
  unused: readonly Unused[],
  idleMinMs: number,
): Unused[] {
  return unused
    .filter(({ turn, idleMs }) => turn !== "open" || idleMs >= idleMinMs)
    .sort((a, b) => rank(a) - rank(b) || b.idleMs - a.idleMs);
}

const rank = ({ turn }: UnusedBrowser): number => (turn === undefined ? 0 : turn === "parked" ? 1 : 2);
