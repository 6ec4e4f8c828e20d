import type { OpenTurn } from "#lib/session/run/run-store.ts";

/** A session's claim to one of the places for running browsers. */
export type PlaceTicket = {
  /** Resolves once the session has a place; rejects with the error of a `release` before that. */
  granted: Promise<void>;
  /** 1 is next in line; 0 has a place. */
  position: () => number;
  /** Gives the place back, or leaves the line with an error. Does nothing the second time. */
  release: (error?: Error) => void;
};

/** The places of this process: at most `max` sessions have one, the others wait in order of arrival. */
export type BrowserPlaces = {
  /** @param onMove called with each new position while the session waits. */
  request: (onMove: (position: number) => void) => PlaceTicket;
  /** Whether a place is free and no session waits for it. */
  hasRoom: () => boolean;
  /** Looks for browsers to end, if a session waits: one may have become unused. */
  recheck: () => void;
};

type PlacesDeps = {
  max: number;
  /** Ends up to `count` browsers that their sessions do not use, and resolves when they have ended. */
  endUnused: (count: number) => Promise<void>;
  onError: (error: unknown) => void;
};

type Waiting = { position: number; grant: () => void; onMove: (position: number) => void };

type Places = {
  deps: PlacesDeps;
  line: Waiting[];
  held: number;
  /** Whether browsers to end are being looked for now. */
  isLooking: boolean;
  /** Whether a browser may have become unused since the last look began. */
  mustLookAgain: boolean;
  timer: NodeJS.Timeout | undefined;
};

/** How often a line that waits looks for a browser that has been idle long enough, or whose turn has ended. */
const RECHECK_MS = 1_000;

/** Makes the places. `deps.endUnused` is called only while a session waits. */
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
  // A session that leaves the line may not listen any more.
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

/** Gives free places to the line and reports the new positions of those who still wait. */
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

/** A browser without a tool call that holds it, a viewer, or a navigation in progress. */
type UnusedBrowser = {
  /** Milliseconds since it was used last. */
  idleMs: number;
  /** Its session's turn; undefined where none is open. */
  turn: OpenTurn | undefined;
};

/**
 * The browsers to end, first to last, when other sessions wait: those of sessions without an open turn at once, those of
 * parked turns, then those that an open turn has not used for `idleMinMs`, the longest idle first. A turn that has just
 * used its page keeps it: ending the page between two tool calls would lose what was typed into it.
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
