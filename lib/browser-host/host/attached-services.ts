import type { BrowserRecords } from "#lib/browser/browser-records.ts";
import type { Link } from "#lib/host-link/link.ts";
import type { LinkEndedError } from "#lib/host-link/link-message.ts";
import type { ServiceCalls } from "../host-calls.ts";

/** The processes of the service that are connected to this host. */
export type AttachedServices = {
  add: (link: Link<ServiceCalls>) => void;
  /** Notes that a process ends soon: it is not counted any more, and gets calls only if there is no other process. */
  noteLeaving: (link: Link<ServiceCalls>) => void;
  /** Returns the number of connected processes. */
  count: () => number;
  /** Returns the number of connected processes that are not about to end. */
  countStaying: () => number;
  /** Returns since when no process is connected, in milliseconds of `performance.now`. Undefined if one is. */
  aloneSinceMs: () => number | undefined;
  /**
   * Calls a connected process. If it goes away meanwhile, repeats the call with another one; waits for one if there is
   * none, unless the host has been alone for too long. @throws the error of the process's handler; Error if no process
   * connects in time, or if too many calls wait.
   */
  ask: <Name extends keyof ServiceCalls & string>(
    method: Name,
    args: ServiceCalls[Name]["args"],
  ) => Promise<ServiceCalls[Name]["result"]>;
  /** Calls a connected process, if there is one. Ignores failures. */
  tell: <Name extends keyof ServiceCalls & string>(method: Name, args: ServiceCalls[Name]["args"]) => void;
  /** Calls all connected processes. Ignores failures. */
  tellAll: <Name extends keyof ServiceCalls & string>(method: Name, args: ServiceCalls[Name]["args"]) => void;
  /** The records of browsers, at the connected processes. */
  records: BrowserRecords;
};

/** How many calls may wait for a process. Pages cause some of them, and each may hold a file. */
const WAITING_MAX = 100;

/**
 * Creates the list of connected processes.
 *
 * @param waitMs how long calls wait for a process after the last one has gone. A host that then ends its browsers must
 * not wait again for each change that it wants to record.
 * @param onAlone called when the last process has gone.
 * @param nowMs replaces the clock in tests, in milliseconds.
 */
export function createAttachedServices(
  waitMs: number,
  onAlone: () => void,
  nowMs: () => number = () => performance.now(),
): AttachedServices {
  const links = new Set<Link<ServiceCalls>>();
  const leaving = new WeakSet<Link<ServiceCalls>>();
  let waiting = 0;
  let arrival = Promise.withResolvers<void>();
  let aloneSinceMs: number | undefined = nowMs();

  /** Finds the process that connected last: an earlier one may hang. */
  function findLink(): Link<ServiceCalls> | undefined {
    const open = [...links].filter((each) => each.isOpen());
    return open.findLast((each) => !leaving.has(each)) ?? open.at(-1);
  }

  async function ask<Name extends keyof ServiceCalls & string>(
    method: Name,
    args: ServiceCalls[Name]["args"],
  ): Promise<ServiceCalls[Name]["result"]> {
    for (;;) {
      const link = findLink() ?? (await untilAttached());
      try {
        return await link.call(method, args);
      } catch (error) {
        if ((error as LinkEndedError).name !== "LinkEndedError") throw error;
      }
    }
  }

  async function untilAttached(): Promise<Link<ServiceCalls>> {
    const none = new Error("no process of the service is connected");
    const leftMs = waitMs - (nowMs() - (aloneSinceMs ?? nowMs()));
    if (leftMs <= 0 || waiting >= WAITING_MAX) throw none;
    waiting += 1;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(none), leftMs);
    try {
      for (;;) {
        await Promise.race([late, arrival.promise]);
        const link = findLink();
        if (link) return link;
      }
    } finally {
      waiting -= 1;
      clearTimeout(timer);
    }
  }

  /** The cast is safe: a call without a result answers null. */
  const record = <Name extends keyof BrowserRecords>(name: Name) =>
    ((args: ServiceCalls[Name]["args"]) => ask(name, args)) as unknown as BrowserRecords[Name];
  return {
    add(link) {
      links.add(link);
      aloneSinceMs = undefined;
      arrival.resolve();
      arrival = Promise.withResolvers();
      void link.ended.then(() => {
        links.delete(link);
        if (links.size > 0) return;
        aloneSinceMs = nowMs();
        onAlone();
      });
    },
    noteLeaving: (link) => leaving.add(link),
    count: () => links.size,
    countStaying: () => [...links].filter((each) => !leaving.has(each)).length,
    aloneSinceMs: () => aloneSinceMs,
    ask,
    tell(method, args) {
      findLink()
        ?.call(method, args)
        .catch(() => {});
    },
    tellAll(method, args) {
      for (const link of links) if (link.isOpen()) link.call(method, args).catch(() => {});
    },
    records: {
      readSession: record("readSession"),
      read: record("read"),
      move: record("move"),
      dropClaim: record("dropClaim"),
      patch: record("patch"),
      emit: record("emit"),
      enqueue: record("enqueue"),
      takeNext: record("takeNext"),
      listPositions: record("listPositions"),
      seekElsewhere: record("seekElsewhere"),
      findOpenTurns: record("findOpenTurns"),
      listSharedInUse: record("listSharedInUse"),
      keepPicture: record("keepPicture"),
      keepRecorded: record("keepRecorded"),
      isHandedOver: record("isHandedOver"),
      readSiteData: record("readSiteData"),
      saveSiteData: record("saveSiteData"),
    },
  };
}
