/** A request for one of the places for running browsers. */
export type PlaceTicket = {
  /** Resolves when there is a place. Rejects with the error of `release` if `release` is called before that. */
  granted: Promise<void>;
  isWaiting: () => boolean;
  /** Whether the session waited at another host. Its start is recorded already, and it has a place. */
  isHandedOver: boolean;
  /**
   * Call it when the session's wait is stored. Before that, the session has no position and gets no place of the queue.
   */
  enlist: () => void;
  /** Gives the place back, or leaves the queue with an error. Only the first call has an effect. */
  release: (error?: Error) => void;
};

/** The places for running browsers of this host. At most `max` sessions have a place; others wait in a queue. */
export type BrowserPlaces = {
  /**
   * @param sessionId undefined for a lease, which waits only for a place of this host.
   * @param onMove called with the session's position in the queue of all hosts, and with each new one. 1 is next.
   */
  request: (sessionId: string | undefined, onMove: (position: number) => void) => PlaceTicket;
  /** Whether a place is free and no session waits for it. */
  hasRoom: () => boolean;
  /** If a session waits, looks for unused browsers to end. Call it when a browser may have become unused. */
  recheck: () => void;
  /**
   * Gives places to sessions that wait at other hosts. Ends unused browsers for them if no session waits here.
   * @returns how many of `count` sessions can get a place.
   */
  offer: (count: number) => Promise<number>;
};

/** A session that gets a place. `isOurs`: it has waited at this host. */
export type NextInQueue = { sessionId: string; isOurs: boolean };

type PlacesDeps = {
  max: number;
  /** Ends up to `count` unused browsers. Resolves when they have ended, with their number. */
  endUnused: (count: number) => Promise<number>;
  /**
   * Takes the session that has waited longest out of the queue of all hosts, for a place of this host. Undefined if no
   * session waits.
   */
  takeNext: () => Promise<NextInQueue | undefined>;
  /** Returns the positions of the sessions that wait at this host, in the queue of all hosts. */
  listPositions: () => Promise<[sessionId: string, position: number][]>;
  /** Asks the other hosts for places. Called while sessions wait and no browser of this host can be ended for them. */
  seekElsewhere: (count: number) => void;
  onError: (error: unknown) => void;
};

type Waiting = {
  sessionId: string | undefined;
  /** The position that was reported last. */
  position: number | undefined;
  grant: () => void;
  onMove: (position: number) => void;
};

type Places = {
  deps: PlacesDeps;
  line: Waiting[];
  held: number;
  /** Sessions that get a place of this host, but have not arrived from their host yet. */
  promised: Map<string, NodeJS.Timeout>;
  /** Whether sessions may wait at other hosts. */
  othersWait: boolean;
  isAdmitting: boolean;
  /** Whether a place may have become free since the latest admission began. */
  mustAdmitAgain: boolean;
  /** Whether a search for unused browsers is in progress. */
  isLooking: boolean;
  /** Whether a browser may have become unused since the latest search for unused browsers began. */
  mustLookAgain: boolean;
  /** Settles when the positions that are being read are reported. */
  reporting: Promise<void> | undefined;
  /** Whether the queue may have changed since the positions began to be read. */
  mustReportAgain: boolean;
  timer: NodeJS.Timeout | undefined;
};

/** How often to look for unused browsers and new positions while sessions wait. */
const RECHECK_MS = 1_000;
/** How long a place is kept for a session from another host. */
const PROMISE_MS = 30_000;

/**
 * Creates the places. Calls `deps.endUnused` only while a session waits. The order of the queue is that of
 * `deps.takeNext`, which includes the sessions of other hosts; a lease gets a place when it is the first at this host.
 */
export function createBrowserPlaces(deps: PlacesDeps): BrowserPlaces {
  const places: Places = {
    deps,
    line: [],
    held: 0,
    promised: new Map(),
    othersWait: false,
    isAdmitting: false,
    mustAdmitAgain: false,
    isLooking: false,
    mustLookAgain: false,
    reporting: undefined,
    mustReportAgain: false,
    timer: undefined,
  };
  return {
    request: (sessionId, onMove) => request(places, sessionId, onMove),
    hasRoom: () => places.held < deps.max && places.line.length === 0,
    recheck: () => recheck(places),
    offer: (count) => offer(places, count),
  };
}

function request(
  places: Places,
  sessionId: string | undefined,
  onMove: (position: number) => void,
): PlaceTicket {
  const { deps, line } = places;
  const { promise: granted, resolve, reject } = Promise.withResolvers<void>();
  // Prevents an unhandled rejection when a session leaves the queue.
  granted.catch(() => {});
  let state: "waiting" | "held" | "released" = "waiting";
  const waiting: Waiting = {
    sessionId,
    position: undefined,
    onMove,
    grant() {
      state = "held";
      resolve();
    },
  };
  const isHandedOver = sessionId !== undefined && redeem(places, sessionId);
  if (isHandedOver) waiting.grant();
  else if (places.held < deps.max && line.length === 0) {
    places.held += 1;
    waiting.grant();
  } else {
    line.push(waiting);
    recheck(places);
  }
  return {
    granted,
    isWaiting: () => state === "waiting",
    isHandedOver,
    // The position is reported first: a session that was told to wait learns it.
    enlist: () => void reportPositions(places).then(() => admit(places)),
    release(error = new Error("the session no longer waits for a browser")) {
      if (state === "released") return;
      if (state === "held") places.held -= 1;
      else {
        line.splice(line.indexOf(waiting), 1);
        reject(error);
      }
      state = "released";
      void reportPositions(places);
      recheck(places);
    },
  };
}

/** Returns whether a place was promised to the session. */
function redeem({ promised }: Places, sessionId: string): boolean {
  clearTimeout(promised.get(sessionId));
  return promised.delete(sessionId);
}

function promisePlace(places: Places, sessionId: string): void {
  const expire = () => {
    if (!redeem(places, sessionId)) return;
    places.held -= 1;
    recheck(places);
  };
  places.promised.set(sessionId, setTimeout(expire, PROMISE_MS).unref());
}

/** Gives free places to the sessions that have waited longest. */
async function admit(places: Places): Promise<void> {
  places.mustAdmitAgain = true;
  if (places.isAdmitting) return;
  places.isAdmitting = true;
  try {
    while (places.mustAdmitAgain) {
      places.mustAdmitAgain = false;
      while (await admitNext(places)) void reportPositions(places);
    }
  } catch (error) {
    places.deps.onError(error);
  } finally {
    places.isAdmitting = false;
  }
}

/** @returns whether to try again: a place was given, or the next session has left meanwhile. */
async function admitNext(places: Places): Promise<boolean> {
  const { deps, line } = places;
  const [first] = line;
  if (places.held >= deps.max || (!first && !places.othersWait)) return false;
  places.held += 1;
  if (first && first.sessionId === undefined) {
    grantPlace(places, first);
    return true;
  }
  const next = await deps.takeNext().catch((error: unknown) => {
    places.held -= 1;
    throw error;
  });
  const waiting = next && line.find(({ sessionId }) => sessionId === next.sessionId);
  if (waiting) grantPlace(places, waiting);
  else if (next && !next.isOurs) promisePlace(places, next.sessionId);
  else places.held -= 1;
  if (!next && !first) places.othersWait = false;
  return next !== undefined;
}

function grantPlace({ line }: Places, waiting: Waiting): void {
  line.splice(line.indexOf(waiting), 1);
  waiting.grant();
}

/** Reports the positions that have changed. Resolves when those of this moment are reported; never rejects. */
function reportPositions(places: Places): Promise<void> {
  places.mustReportAgain = true;
  places.reporting ??= Promise.resolve().then(() => readPositions(places));
  return places.reporting;
}

async function readPositions(places: Places): Promise<void> {
  const { deps, line } = places;
  try {
    while (places.mustReportAgain && line.some(({ sessionId }) => sessionId !== undefined)) {
      places.mustReportAgain = false;
      const positions = new Map(await deps.listPositions());
      for (const waiting of line) {
        const position = positions.get(waiting.sessionId ?? "");
        if (position === undefined || position === waiting.position) continue;
        waiting.position = position;
        waiting.onMove(position);
      }
    }
  } catch (error) {
    deps.onError(error);
  } finally {
    places.reporting = undefined;
  }
}

function recheck(places: Places): void {
  clearTimeout(places.timer);
  void admit(places);
  if (places.line.length === 0) return;
  places.mustLookAgain = true;
  if (!places.isLooking) void look(places);
}

async function look(places: Places): Promise<void> {
  const { deps, line } = places;
  places.isLooking = true;
  let ended = 0;
  while (places.mustLookAgain && line.length > 0) {
    places.mustLookAgain = false;
    ended = await deps.endUnused(line.length).catch((error: unknown) => {
      deps.onError(error);
      return 0;
    });
  }
  places.isLooking = false;
  if (line.length === 0) return;
  if (ended === 0) deps.seekElsewhere(line.length);
  // Sessions at other hosts may have left the queue.
  void reportPositions(places);
  places.timer = setTimeout(() => recheck(places), RECHECK_MS).unref();
}

async function offer(places: Places, count: number): Promise<number> {
  const { deps, line } = places;
  places.othersWait = true;
  const free = Math.max(deps.max - places.held, 0);
  const ended = free < count && line.length === 0 ? await deps.endUnused(count - free) : 0;
  void admit(places);
  return Math.min(free + ended, count);
}
