/** A session's claim to one of the browsers that may be live at once. */
export type PlaceTicket = {
  /** Resolves once the session holds a place; rejects with the error that `release` was given before that. */
  granted: Promise<void>;
  /** 1 is next in line, 0 holds a place. */
  position: () => number;
  /** Gives the place back, or leaves the line with an error. Does nothing the second time. */
  release: (error?: Error) => void;
};

/** The places of this process: at most `max` sessions hold one, the others wait in order of arrival. */
export type BrowserPlaces = {
  /** @param onMove called with each new position while the session waits. */
  request: (onMove: (position: number) => void) => PlaceTicket;
  /** Whether a place is free and no session waits for it. */
  hasRoom: () => boolean;
  /** A browser may have become free to be ended: looks for one, if any session waits. */
  recheck: () => void;
};

type Waiting = { position: number; grant: () => void; onMove: (position: number) => void };

/** How often a waiting line looks for a browser that has been idle long enough, or whose turn has ended. */
const RECHECK_MS = 1_000;

/**
 * Makes the places. `endUnused` ends up to so many browsers that their sessions can do without, and resolves once they
 * are gone; it is called only while a session waits.
 */
export function createBrowserPlaces(deps: {
  max: number;
  endUnused: (count: number) => Promise<void>;
  onError: (error: unknown) => void;
}): BrowserPlaces {
  const { max, endUnused, onError } = deps;
  const line: Waiting[] = [];
  let held = 0;
  let isLooking = false;
  let mustLookAgain = false;
  let timer: NodeJS.Timeout | undefined;

  function advance(): void {
    while (held < max) {
      const next = line.shift();
      if (!next) break;
      held += 1;
      next.grant();
    }
    for (const [index, waiting] of line.entries()) {
      if (waiting.position === index + 1) continue;
      waiting.position = index + 1;
      waiting.onMove(waiting.position);
    }
    recheck();
  }

  function recheck(): void {
    clearTimeout(timer);
    if (line.length === 0) return;
    mustLookAgain = true;
    if (!isLooking) void look();
  }

  async function look(): Promise<void> {
    isLooking = true;
    while (mustLookAgain && line.length > 0) {
      mustLookAgain = false;
      await endUnused(line.length).catch(onError);
    }
    isLooking = false;
    if (line.length > 0) timer = setTimeout(recheck, RECHECK_MS).unref();
  }

  return {
    request(onMove) {
      const { promise: granted, resolve, reject } = Promise.withResolvers<void>();
      // A session that leaves the line may have stopped listening.
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
      advance();
      return {
        granted,
        position: () => waiting.position,
        release(error = new Error("the session no longer waits for a browser")) {
          if (state === "released") return;
          if (state === "held") held -= 1;
          else {
            line.splice(line.indexOf(waiting), 1);
            reject(error);
          }
          state = "released";
          advance();
        },
      };
    },
    hasRoom: () => held < max && line.length === 0,
    recheck,
  };
}

/** A live browser that no tool call uses, that no person watches, and that is going nowhere. */
type UnusedBrowser = {
  /** Milliseconds since it was used last. */
  idleMs: number;
  hasOpenTurn: boolean;
};

/**
 * The browsers to end, first to last, when other sessions wait: those of sessions without an open turn at once, then those
 * that an open turn has left alone for `idleMinMs`, the longest idle first. A turn that has just used its page keeps it:
 * ending the page between two tool calls would lose what was typed into it.
 */
export function orderForEnding<Unused extends UnusedBrowser>(
  unused: readonly Unused[],
  idleMinMs: number,
): Unused[] {
  return unused
    .filter(({ hasOpenTurn, idleMs }) => !hasOpenTurn || idleMs >= idleMinMs)
    .sort((a, b) => Number(a.hasOpenTurn) - Number(b.hasOpenTurn) || b.idleMs - a.idleMs);
}
