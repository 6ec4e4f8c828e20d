import type { OpenTurn } from "#lib/session/store/run-store.ts";

/** A session's request for one of the places for running browsers. */
export type PlaceTicket = {
  /** Resolves when the session has a place. Rejects with the error of `release` if `release` is called before that. */
  granted: Promise<void>;
  /** Returns the position in the queue, beginning with 1; returns 0 if the session has a place. */
  position: () => number;
  /** Gives the place back, or leaves the queue with an error. Only the first call has an effect. */
  release: (error?: Error) => void;
};

/** The places for running browsers in this process. At most `max` sessions have a place; others wait in a queue. */
export type BrowserPlaces = {
  /** @param onMove called with each new position while the session waits. */
  request: (onMove: (position: number) => void) => PlaceTicket;
  /** Whether a place is free and no session waits for it. */
  hasRoom: () => boolean;
  /** If a session waits, looks for unused browsers to end. Call it when a browser may have become unused. */
  recheck: () => void;
};

type PlacesDeps = {
  max: number;
  /** Ends up to `count` unused browsers, and resolves when they have ended. */
  endUnused: (count: number) => Promise<void>;
  onError: (error: unknown) => void;
};

type Waiting = { position: number; grant: () => void; onMove: (position: number) => void };

type Places = {
  deps: PlacesDeps;
  line: Waiting[];
  held: number;
  /** Whether a search for unused browsers is in progress. */
  isLooking: boolean;
  /** Whether a browser may have become unused since the latest search for unused browsers began. */
  mustLookAgain: boolean;
  timer: NodeJS.Timeout | undefined;
};

/** How often to look for unused browsers while sessions wait. */
const RECHECK_MS = 1_000;

/** Creates the places. Calls `deps.endUnused` only while a session waits. */
export function createBrowserPlaces(deps: PlacesDeps): BrowserPlaces {
  const places: Places = {
    deps,
    line: [],
    held: 0,
    isLooking: false,
    mustLookAgain: false,
    timer: undefined,
  };
  return {
    request: (onMove) => request(places, onMove),
    hasRoom: () => places.held < deps.max && places.line.length === 0,
    recheck: () => recheck(places),
  };
}

function request(places: Places, onMove: (position: number) => void): PlaceTicket {
  const { line } = places;
  const { promise: granted, resolve, reject } = Promise.withResolvers<void>();
  // Prevents an unhandled rejection when a session leaves the queue.
  granted.catch(() => {});
  let state: "waiting" | "held" | "released" = "waiting";
  const waiting: Waiting = {
    position: line.length + 1,
    onMove,
    grant() {
      state = "held";
      waiting.position = 0;
      resolve();
    },
  };
  line.push(waiting);
  advance(places);
  return {
    granted,
    position: () => waiting.position,
    release(error = new Error("the session no longer waits for a browser")) {
      if (state === "released") return;
      if (state === "held") places.held -= 1;
      else {
        line.splice(line.indexOf(waiting), 1);
        reject(error);
      }
      state = "released";
      advance(places);
    },
  };
}

/** Gives free places to the first sessions in the queue, and reports the new positions of the others. */
function advance(places: Places): void {
  const { deps, line } = places;
  while (places.held < deps.max) {
    const next = line.shift();
    if (!next) break;
    places.held += 1;
    next.grant();
  }
  for (const [index, waiting] of line.entries()) {
    if (waiting.position === index + 1) continue;
    waiting.position = index + 1;
    waiting.onMove(waiting.position);
  }
  recheck(places);
}

function recheck(places: Places): void {
  clearTimeout(places.timer);
  if (places.line.length === 0) return;
  places.mustLookAgain = true;
  if (!places.isLooking) void look(places);
}

async function look(places: Places): Promise<void> {
  const { deps, line } = places;
  places.isLooking = true;
  while (places.mustLookAgain && line.length > 0) {
    places.mustLookAgain = false;
    await deps.endUnused(line.length).catch(deps.onError);
  }
  places.isLooking = false;
  if (line.length > 0) places.timer = setTimeout(() => recheck(places), RECHECK_MS).unref();
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
