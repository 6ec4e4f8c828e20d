import type { Database } from "#db/client.ts";
import type { BrowserLease, LeaseTenant, ViewListeners } from "#lib/browser/browser-service.ts";
import type { ReachedBrowsers } from "#lib/browser/create-browser-service.ts";
import { refuseAction } from "#lib/browser/stage/stage-state.ts";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import { freeState } from "#lib/browser/view/control-state.ts";
import type { EventBus } from "#lib/events/bus/bus.ts";
import type { Link } from "#lib/host-link/link.ts";
import { LinkEndedError } from "#lib/host-link/link-message.ts";
import type { Logger } from "#lib/log/logger.ts";
import { findOpenTurns } from "#lib/session/store/run-store.ts";
import type { HostCalls } from "../host-calls.ts";
import { callAtHost } from "./at-host.ts";
import type { BrowserHosts } from "./browser-hosts.ts";
import type { ConnectedHost } from "./host-connections.ts";
import { deleteOldHosts, isHostAlive } from "./host-store.ts";
import { findHostOfTests } from "./remote-tests.ts";

type Deps = {
  hosts: BrowserHosts;
  db: Database;
  bus: Pick<EventBus, "subscribe">;
  logger: Logger;
  control: Pick<BrowserControl, "apply" | "stateOf">;
  /** Whether browsers can run, and which one or why not, before a host is connected. */
  describe: () => { available: boolean; detail: string };
};

/** How long a host may take to answer that a session's browser was used. */
const ROUTE_MS = 2_000;

/** The browsers of all hosts. Each call goes to the host that runs the session's browser. */
export function createReachedBrowsers(deps: Deps): ReachedBrowsers {
  const { hosts, db, logger, control } = deps;
  const routes = createRoutes(hosts);
  const at = <Result>(
    sessionId: string,
    act: (link: Link<HostCalls>) => Promise<Result>,
    options?: Parameters<typeof callAtHost>[3],
  ) => callAtHost(hosts, sessionId, act, options);
  /**
   * Calls all connected hosts. A host whose connection ends meanwhile has ended, perhaps with the machine of a session
   * that is removed, or finds out when it renews its lease.
   */
  const everywhere = async <Result>(act: (host: ConnectedHost) => Promise<Result>) => {
    const results = await Promise.all(
      hosts.list().map((host) =>
        act(host).catch((error: unknown) => {
          if (error instanceof LinkEndedError) return undefined;
          throw error;
        }),
      ),
    );
    return results.filter((result) => result !== undefined);
  };
  /** Calls the session's host if one runs its browser. Failures are only logged. */
  const tell = (sessionId: string, act: (link: Link<HostCalls>) => Promise<unknown>) =>
    void routes
      .find(sessionId)
      .then((link) => link && act(link))
      .catch((error: unknown) => logger.debug({ sessionId, err: error }, "a browser host was not told"));
  const describeNow = () => {
    const [host] = hosts.list();
    const { available, detail } = host?.info.browser ?? deps.describe();
    // How a session's own machine confines scripts is known only here.
    const scripts = host?.home === "sandbox" ? `scripts: ${host.info.scripts.detail}` : undefined;
    const details = [detail, scripts, hosts.describeRemotes()].filter((each) => each !== undefined);
    return { available, detail: details.join("; "), live: hosts.countLive() };
  };
  return {
    lease: (signal, tenant) => lease(hosts, tenant, signal),
    warmUp() {
      if (!describeNow().available) return;
      hosts
        .choose()
        .then(({ link }) => link.call("warmUp", null))
        .catch((error: unknown) => logger.debug({ err: error }, "no spare browser was started"));
    },
    open: (sessionId) => at(sessionId, (link) => link.call("open", { sessionId })),
    async goTo(sessionId, url, retargets) {
      // The number of the retarget keeps a host from opening the page twice.
      await at(sessionId, (link) => link.call("goTo", { sessionId, url, retargets }), { isRepeatable: true });
    },
    navigate: (sessionId, url, signal) =>
      at(sessionId, (link) => link.call("navigate", { sessionId, url }, { signal }), { signal }),
    history: (sessionId, action) => at(sessionId, (link) => link.call("history", { sessionId, action })),
    async refreshPageScripts(sessionIds) {
      await everywhere(({ link }) => link.call("refreshPageScripts", { sessionIds: [...sessionIds] }));
    },
    async settle(sessionId) {
      await (await routes.find(sessionId))?.call("settle", { sessionId });
    },
    touch: (sessionId) => tell(sessionId, (link) => link.call("touch", { sessionId })),
    watch: (sessionId, listeners) => watch(deps, sessionId, listeners),
    async drive(sessionId, connectionId, input) {
      const link = await routes.find(sessionId);
      if (link) await link.call("input", { sessionId, connectionId, input });
      else await at(sessionId, (chosen) => chosen.call("input", { sessionId, connectionId, input }));
    },
    async control(sessionId, request) {
      const act = (link: Link<HostCalls>) => link.call("control", { sessionId, request });
      // Only a take may start a host.
      const host = request.type === "take" ? undefined : await hosts.findLeased(sessionId);
      if (!host && request.type !== "take") return { state: freeState(sessionId), secret: null };
      const answer = await (host ? act(host.link) : at(sessionId, act));
      control.apply(answer.state);
      return answer;
    },
    async readControl(sessionId) {
      const host = await hosts.findLeased(sessionId);
      if (host) return (await host.link.call("readControl", { sessionId })) ?? undefined;
      const known = control.stateOf(sessionId);
      // A host that is not connected now still decides, unless its lease has ended.
      return known?.holder && (await isHostAlive(db, known.hostId)) ? known : undefined;
    },
    async noteHandover(sessionId) {
      const host = await hosts.findLeased(sessionId);
      if (host) control.apply(await host.link.call("readHandover", { sessionId }));
    },
    // These act on what a person sees, so they start no browser.
    copy: async (sessionId, connectionId, action) =>
      (await (await routes.find(sessionId))?.call("copy", { sessionId, connectionId, action })) ?? null,
    paste: async (sessionId, connectionId, items) =>
      (await (await routes.find(sessionId))?.call("paste", { sessionId, connectionId, items })) ??
      refuseAction("the session's browser does not run"),
    async setViewport(sessionId, connectionId, change) {
      await (await routes.find(sessionId))?.call("setViewport", { sessionId, connectionId, change });
    },
    act: async (sessionId, connectionId, action) =>
      (await (await routes.find(sessionId))?.call("act", { sessionId, connectionId, action })) ??
      refuseAction("no browser runs"),
    findElements: async (sessionId, anchors) =>
      (await (await routes.find(sessionId))?.call("findElements", { sessionId, anchors: [...anchors] })) ??
      null,
    locateTarget: async (sessionId, part) =>
      (await (await routes.find(sessionId))?.call("locateTarget", { sessionId, part })) ?? null,
    captureBoxes: async (sessionId, boxes) =>
      (await (await routes.find(sessionId))?.call("captureBoxes", { sessionId, boxes: [...boxes] })) ?? null,
    readCursor: async (sessionId, x, y) =>
      (await (await routes.find(sessionId))?.call("readCursor", { sessionId, x, y })) ?? "default",
    async reapIdle(listRecorded) {
      const ended = await everywhere(async ({ id, link }) =>
        link.call("reapIdle", { recorded: await listRecorded(id) }),
      );
      await deleteOldHosts(db);
      return ended.reduce((sum, count) => sum + count, 0);
    },
    async closeSession(sessionId) {
      // Connects to the session's host. One that cannot be reached ends the browser when it renews its lease.
      await hosts.find(sessionId).catch(() => undefined);
      await everywhere(({ link }) => link.call("closeSession", { sessionId }));
    },
    describe: describeNow,
    close: () => hosts.close(true),
  };
}

/** Finds hosts of sessions without a query for each input: an answer is used for a short time. */
function createRoutes(hosts: BrowserHosts) {
  const routes = new Map<string, { link: Promise<Link<HostCalls> | undefined>; untilMs: number }>();
  return {
    find(sessionId: string): Promise<Link<HostCalls> | undefined> {
      const now = performance.now();
      const known = routes.get(sessionId);
      if (known && known.untilMs > now) return known.link;
      for (const [id, { untilMs }] of routes) if (untilMs <= now) routes.delete(id);
      const link = hosts.find(sessionId).then((host) => host?.link);
      routes.set(sessionId, { link, untilMs: now + ROUTE_MS });
      link.then(
        (found) => found ?? routes.delete(sessionId),
        () => routes.delete(sessionId),
      );
      return link;
    },
  };
}

/** Leases a place of a host for a Chromium of the caller. */
async function lease(hosts: BrowserHosts, tenant: LeaseTenant, signal: AbortSignal): Promise<BrowserLease> {
  const host = (await findHostOfTests(hosts, tenant.id)) ?? (await hosts.choose(tenant.sessionId));
  const { link, home } = host;
  const released = new AbortController();
  const stopWaiting = () => released.abort(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener("abort", stopWaiting, { once: true });
  const { promise: leased, resolve, reject } = Promise.withResolvers<HostCalls["lease"]["item"]>();
  const held = link.call("lease", { id: tenant.id }, { signal: released.signal, onItem: resolve });
  held.catch(reject);
  // After this, the caller decides whether the lease is kept.
  const { leaseId, ...browser } = await leased.finally(() =>
    signal.removeEventListener("abort", stopWaiting),
  );
  return {
    ...browser,
    // Otherwise, the caller runs the browser on its own machine or in the session's box.
    ...(home === "remote" && { hostId: host.id }),
    listRefusals: () => link.call("listLeaseRefusals", { leaseId }),
    async release(isKept = false) {
      released.abort(
        isKept ? new LinkEndedError("the lease is continued") : new Error("the lease was released"),
      );
      await held.catch(() => {});
    },
  };
}

/**
 * Shows a viewer the pictures of the session's browser, wherever it runs. Starts a browser only if the session has an
 * open turn. While no host has the browser, waits for an event that says that one has.
 */
function watch(
  { hosts, db, bus, logger }: Deps,
  sessionId: string,
  { onFrame, onPointer, onStage }: ViewListeners,
): () => void {
  const over = new AbortController();
  let changed = Promise.withResolvers<void>();
  let current = new AbortController();
  let watchedId: string | undefined;
  const unsubscribe = bus.subscribe(sessionId, (item) => {
    if (item.type !== "event" || item.event.kind !== "browser.status") return;
    changed.resolve();
    void followMove();
  });

  /** Ends the connection to a host that has handed the session over. */
  async function followMove(): Promise<void> {
    const host = await hosts.find(sessionId).catch(() => undefined);
    if (host && host.id !== watchedId) current.abort(new Error("another host has the browser"));
  }

  async function follow(): Promise<void> {
    while (!over.signal.aborted) {
      changed = Promise.withResolvers();
      const hasTurn = (await findOpenTurns(db, [sessionId])).has(sessionId);
      const host = await (hasTurn ? hosts.of(sessionId) : hosts.find(sessionId));
      if (!host) {
        await changed.promise;
        continue;
      }
      current = new AbortController();
      watchedId = host.id;
      await host.link.call(
        "watch",
        { sessionId, hasStage: onStage !== undefined },
        {
          signal: AbortSignal.any([over.signal, current.signal]),
          onItem(item) {
            if ("frame" in item) onFrame(item.frame);
            else if ("stage" in item) onStage?.(item.stage);
            else onPointer?.(item.pointer);
          },
        },
      );
    }
  }

  async function followAlways(): Promise<void> {
    while (!over.signal.aborted) {
      await follow().catch((error: unknown) => {
        if (!over.signal.aborted) logger.debug({ sessionId, err: error }, "the live view was interrupted");
      });
      if (!over.signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
    }
  }
  void followAlways();
  return () => {
    over.abort(new Error("the viewer has left"));
    changed.resolve();
    unsubscribe();
  };
}

const RETRY_MS = 500;
