import type { BrowserRecords } from "#lib/browser/browser-records.ts";
import type { Link } from "#lib/host-link/link.ts";
import type { LinkEndedError } from "#lib/host-link/link-message.ts";
import type { ServiceCalls } from "../host-calls.ts";

/** The processes of the service that are connected to this host. */
export type AttachedServices = {
  add: (link: Link<ServiceCalls>) => void;
  count: () => number;
  /** Returns since when no process is connected, in milliseconds of `performance.now`. Undefined if one is. */
  aloneSinceMs: () => number | undefined;
  /**
   * Calls a connected process. If it goes away meanwhile, repeats the call with another one; waits for one if there is
   * none. @throws the error of the process's handler; Error if no process connects in time.
   */
  ask: <Name extends keyof ServiceCalls & string>(
    method: Name,
    args: ServiceCalls[Name]["args"],
  ) => Promise<ServiceCalls[Name]["result"]>;
  /** Calls a connected process, if there is one. Ignores failures. */
  tell: <Name extends keyof ServiceCalls & string>(method: Name, args: ServiceCalls[Name]["args"]) => void;
  /** The records of browsers, at the connected processes. */
  records: BrowserRecords;
};

/**
 * Creates the list of connected processes.
 *
 * @param waitMs how long a call waits for a process.
 * @param onAlone called when the last process has gone.
 */
export function createAttachedServices(waitMs: number, onAlone: () => void): AttachedServices {
  const links = new Set<Link<ServiceCalls>>();
  let arrival = Promise.withResolvers<void>();
  let aloneSinceMs: number | undefined = performance.now();

  async function ask<Name extends keyof ServiceCalls & string>(
    method: Name,
    args: ServiceCalls[Name]["args"],
  ): Promise<ServiceCalls[Name]["result"]> {
    for (;;) {
      const link = [...links].find((each) => each.isOpen()) ?? (await untilAttached());
      try {
        return await link.call(method, args);
      } catch (error) {
        if ((error as LinkEndedError).name !== "LinkEndedError") throw error;
      }
    }
  }

  async function untilAttached(): Promise<Link<ServiceCalls>> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error("no process of the service is connected")), waitMs);
    try {
      for (;;) {
        await Promise.race([late, arrival.promise]);
        const link = [...links].find((each) => each.isOpen());
        if (link) return link;
      }
    } finally {
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
        aloneSinceMs = performance.now();
        onAlone();
      });
    },
    count: () => links.size,
    aloneSinceMs: () => aloneSinceMs,
    ask,
    tell(method, args) {
      const link = [...links].find((each) => each.isOpen());
      link?.call(method, args).catch(() => {});
    },
    records: {
      readSession: record("readSession"),
      read: record("read"),
      move: record("move"),
      dropClaim: record("dropClaim"),
      patch: record("patch"),
      emit: record("emit"),
      findOpenTurns: record("findOpenTurns"),
      listSharedInUse: record("listSharedInUse"),
      keepPicture: record("keepPicture"),
      readSiteData: record("readSiteData"),
      saveSiteData: record("saveSiteData"),
    },
  };
}
