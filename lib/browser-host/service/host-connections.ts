import type { Database } from "#db/client.ts";
import type { HostHome } from "#db/schema/unions.ts";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import type { Link } from "#lib/host-link/link.ts";
import { relayPath } from "#lib/host-link/link-message.ts";
import { openLink } from "#lib/host-link/open-link.ts";
import { mintRelayToken } from "#lib/host-link/relay-token.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import { placeHostToken } from "#lib/session/secrets/secret-names.ts";
import type { HostCalls, HostInfo, HostSettings, ServiceCalls } from "../host-calls.ts";
import type { BoxedHosts } from "./boxed-host.ts";
import { type HostRow, readHost, removeHost } from "./host-store.ts";
import { createServiceHandlers, type RunningHelpers, type ServiceHandlersDeps } from "./service-handlers.ts";

/** A host that this process is connected to. */
export type ConnectedHost = { id: string; home: HostHome; info: HostInfo; link: Link<HostCalls> };

/** The connections of this process to browser hosts. */
export type HostConnections = {
  /** Connects to a host, once for all callers. @throws UnreachableHostError */
  connect: (row: HostRow) => Promise<ConnectedHost>;
  get: (hostId: string) => ConnectedHost | undefined;
  list: () => ConnectedHost[];
  /** Returns the number of browsers that run at the connected hosts. */
  countLive: () => number;
  /** Records that a host has ended. */
  giveUp: (hostId: string) => Promise<void>;
  /** Records that a host in a session's box has ended, if it has. @returns whether it has. */
  giveUpIfEnded: (row: HostRow) => Promise<boolean>;
  close: (isFinal: boolean) => Promise<void>;
};

export type HostConnectionsDeps = ServiceHandlersDeps & {
  db: Database;
  logger: Logger;
  sealer: Sealer;
  settings: HostSettings;
  /** See `THIS_MACHINE`. */
  machine: string;
  /**
   * How links are relayed between processes that can reach a host and others. `url`: where other machines reach this
   * process; undefined if they cannot.
   */
  relay: { key: Uint8Array; url: string | undefined };
  /** Functions of this process that scripts of running calls can call. */
  helpers: RunningHelpers;
  control: Pick<BrowserControl, "apply" | "applyAll" | "dropHost" | "stateOf" | "settle">;
  /** Called when a host has ended: its browsers are lost. */
  onHostEnded: () => void;
  /** The hosts in the boxes of sessions. If given, all browsers run there. */
  boxed?: BoxedHosts;
};

/** A browser host cannot be reached now. The message is a sentence that names the host by its id. */
export class UnreachableHostError extends Error {
  override name = "UnreachableHostError";
}

type Connections = {
  deps: HostConnectionsDeps;
  connecting: Map<string, Promise<ConnectedHost>>;
  open: Map<string, ConnectedHost>;
  /** Number of running browsers at each host. */
  running: Map<string, number>;
  isClosed: boolean;
};

const RECONNECT_MS = 2_000;

/** Creates the connections. Connects to no host yet. */
export function createHostConnections(deps: HostConnectionsDeps): HostConnections {
  const connections: Connections = {
    deps,
    connecting: new Map(),
    open: new Map(),
    running: new Map(),
    isClosed: false,
  };
  const { open, running } = connections;
  return {
    connect: (row) => connect(connections, row),
    get: (hostId) => open.get(hostId),
    list: () => [...open.values()],
    countLive: () => [...running.values()].reduce((sum, count) => sum + count, 0),
    giveUp: (hostId) => giveUp(connections, hostId),
    giveUpIfEnded: (row) => giveUpIfEnded(connections, row),
    async close(isFinal) {
      connections.isClosed = true;
      await Promise.all(
        [...open.values()].map(async ({ link, home }) => {
          await link.call("leave", { isFinal: isFinal && home === "local" }).catch(() => {});
          link.close("the process of the service ends");
        }),
      );
    },
  };
}

function connect(connections: Connections, row: HostRow): Promise<ConnectedHost> {
  const { connecting } = connections;
  const existing = connecting.get(row.id);
  if (existing) return existing;
  if (connections.isClosed) return Promise.reject(new Error("the service is closing"));
  const connection = attach(connections, row);
  connecting.set(row.id, connection);
  connection.catch(() => connecting.delete(row.id));
  return connection;
}

async function attach(connections: Connections, row: HostRow): Promise<ConnectedHost> {
  const { deps, open, connecting, running } = connections;
  const { id, home } = row;
  const link = await openRoute(connections, row);
  const info = await link.call("attach", deps.settings).catch((error: unknown) => {
    link.close("the browser host was not attached");
    throw error;
  });
  await faultPoint("host-attached");
  if (info.id !== id) {
    link.close("this is another host");
    await giveUp(connections, id);
    throw new UnreachableHostError(`The browser host ${id} has ended.`);
  }
  deps.control.applyAll(id, info.control);
  const host: ConnectedHost = { id, home, info, link };
  open.set(id, host);
  const stopKeeping = home === "sandbox" ? deps.boxed?.keepRunning(row) : undefined;
  void link.ended.then((reason) => {
    stopKeeping?.();
    open.delete(id);
    connecting.delete(id);
    running.delete(id);
    if (connections.isClosed) return;
    deps.logger.warn({ hostId: id, reason }, "the connection to a browser host ended");
    void reconnect(connections, id);
  });
  return host;
}

/** Connects again until the host is given up: it may still run, and needs this process to keep its lease. */
async function reconnect(connections: Connections, id: string): Promise<void> {
  const { deps } = connections;
  while (!connections.isClosed) {
    try {
      const row = await readHost(deps.db, id);
      if (!row) deps.control.dropHost(id);
      else if (!(await giveUpIfEnded(connections, row))) await connect(connections, row);
      return;
    } catch (error) {
      deps.logger.debug({ err: error, hostId: id }, "a browser host was not connected again");
    }
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS).unref());
  }
}

/**
 * Opens a link to a host: directly, or through a process of the service that can reach the host.
 * @throws UnreachableHostError
 */
async function openRoute(connections: Connections, row: HostRow): Promise<Link<HostCalls>> {
  const { deps } = connections;
  const { id, relayUrl } = row;
  const isHere = row.machine === null || row.machine === deps.machine;
  const isRelayed = relayUrl !== null && relayUrl !== deps.relay.url;
  try {
    if (isHere) return await openDirectly(connections, row);
  } catch (error) {
    if (!isRelayed)
      throw new UnreachableHostError(`The browser host ${id} does not answer now.`, { cause: error });
  }
  if (!isRelayed)
    throw new UnreachableHostError(
      `The browser host ${id} is on another machine, and no process of the service there accepts connections from this one (INTERNAL_URL).`,
    );
  const endpoint = {
    url: `${relayUrl.replace(/^http/, "ws")}${relayPath(id)}`,
    token: mintRelayToken(deps.relay.key, id),
  };
  try {
    return await openLink(endpoint, createHandlers(connections, id, false), deps.logger);
  } catch (error) {
    throw new UnreachableHostError(
      `The browser host ${id} cannot be reached now: the process of the service that relays connections to it does not answer.`,
      { cause: error },
    );
  }
}

async function openDirectly(
  connections: Connections,
  { id, home, url, sealedToken }: HostRow,
): Promise<Link<HostCalls>> {
  const { deps } = connections;
  const token = deps.sealer.open(placeHostToken(id), sealedToken);
  try {
    return await openLink({ url, token }, createHandlers(connections, id, true), deps.logger);
  } catch (error) {
    // Only a process that has ended refuses connections at its own port.
    if (home === "local" && (error as { code?: string }).code === "ECONNREFUSED")
      await giveUp(connections, id);
    throw error;
  }
}

/** Creates the answers to a host's calls. @param isDirect whether this process can relay links of other processes. */
function createHandlers(connections: Connections, id: string, isDirect: boolean) {
  const { deps, open, running } = connections;
  return createServiceHandlers(deps, id, {
    helpers: deps.helpers,
    relayUrl: isDirect ? deps.relay.url : undefined,
    onRunning: (count) => running.set(id, count),
    async onHandedOver({ sessionId, hostId }) {
      // A host that this process does not reach learns it when it renews its lease.
      const call = open.get(hostId)?.link.call("handOver", { sessionId });
      await call?.catch((error: unknown) =>
        deps.logger.debug(
          { err: error, hostId, sessionId },
          "a browser host was not notified of a hand-over",
        ),
      );
    },
    async onSeek(count) {
      let left = count;
      for (const host of open.values()) {
        if (left <= 0) return;
        if (host.id === id || host.home === "sandbox") continue;
        left -= await host.link.call("offerPlaces", { count: left }).catch(() => 0);
      }
    },
  }) satisfies Parameters<typeof openLink<HostCalls, ServiceCalls>>[1];
}

async function giveUpIfEnded({ deps }: Connections, row: HostRow): Promise<boolean> {
  if (row.home !== "sandbox" || !(await deps.boxed?.giveUpIfEnded(row))) return false;
  deps.control.dropHost(row.id);
  deps.onHostEnded();
  return true;
}

async function giveUp({ deps }: Connections, id: string): Promise<void> {
  try {
    await removeHost(deps.db, id);
    await faultPoint("host-given-up");
    deps.control.dropHost(id);
    deps.onHostEnded();
  } catch (error) {
    deps.logger.debug({ err: error, hostId: id }, "the end of a browser host was not recorded");
  }
}
