import { randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { Database } from "#db/client.ts";
import type { HostHome } from "#db/schema/unions.ts";
import { readHostedBrowser } from "#lib/browser/store/browser-store.ts";
import type { SessionClaim } from "#lib/browser/view/browser-control.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import type { Link } from "#lib/host-link/link.ts";
import { PROTOCOL_VERSION } from "#lib/host-link/link-message.ts";
import { openLink } from "#lib/host-link/open-link.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import type { HostStart } from "../host/run-host.ts";
import type { HostCalls, HostInfo, HostSettings, ServiceCalls } from "../host-calls.ts";
import { startLocalHost } from "../start-local-host.ts";
import { type HostRow, insertHost, listHosts, readHost, removeHost } from "./host-store.ts";
import { createServiceHandlers, type RunningHelpers, type ServiceHandlersDeps } from "./service-handlers.ts";

/** A host that this process is connected to. */
type ConnectedHost = { id: string; home: HostHome; info: HostInfo; link: Link<HostCalls> };

/** The browser hosts that this process can reach. */
export type BrowserHosts = {
  /**
   * Returns the host that runs the session's browser. If none does, returns the host on which it is to start; starts a
   * host if there is none. @throws Error with a sentence if the host cannot be reached.
   */
  of: (sessionId: string) => Promise<ConnectedHost>;
  /** Returns the host that runs or starts the session's browser. Undefined if none does. */
  find: (sessionId: string) => Promise<ConnectedHost | undefined>;
  /** Returns the host for a new session. Starts a host if there is none. */
  choose: () => Promise<ConnectedHost>;
  list: () => ConnectedHost[];
  /** Returns the number of sessions whose browser runs, starts or waits at the connected hosts. */
  countLive: () => number;
  /** Connects to the hosts that earlier processes have left on this machine, and to those of other processes. */
  connectKnown: () => Promise<void>;
  /** Functions of this process that scripts of running calls can call. */
  helpers: RunningHelpers;
  close: (isFinal: boolean) => Promise<void>;
};

export type BrowserHostsDeps = ServiceHandlersDeps & {
  db: Database;
  logger: Logger;
  sealer: Sealer;
  settings: HostSettings;
  /** How a host on this machine starts. Undefined if this process cannot start one. */
  local: Omit<HostStart, "id" | "token" | "listen"> | undefined;
  /** Returns who has control of browsers, for a host that has just been connected. */
  listClaims: () => SessionClaim[];
  /** Called when a host has ended: its browsers are lost. */
  onHostEnded: () => void;
};

type Hosts = {
  deps: BrowserHostsDeps;
  connected: Map<string, Promise<ConnectedHost>>;
  open: Map<string, ConnectedHost>;
  starting: Promise<ConnectedHost> | undefined;
  helpers: RunningHelpers;
  /** Number of sessions at each host. */
  loads: Map<string, number>;
  isClosed: boolean;
};

/** The place of a host's token, for its encryption. */
const tokenPlace = (id: string) => ({ table: "browser_hosts", row: id, column: "sealed_token" });

/** Creates the hosts of this process. Connects to none yet. */
export function createBrowserHosts(deps: BrowserHostsDeps): BrowserHosts {
  const hosts: Hosts = {
    deps,
    connected: new Map(),
    open: new Map(),
    starting: undefined,
    helpers: new Map(),
    loads: new Map(),
    isClosed: false,
  };
  return {
    of: async (sessionId) => (await find(hosts, sessionId)) ?? choose(hosts),
    find: (sessionId) => find(hosts, sessionId),
    choose: () => choose(hosts),
    list: () => [...hosts.open.values()],
    countLive: () => [...hosts.loads.values()].reduce((sum, load) => sum + load, 0),
    helpers: hosts.helpers,
    async connectKnown() {
      const rows = await listReachable(deps.db);
      await Promise.all(rows.map((row) => connect(hosts, row).catch(() => undefined)));
    },
    async close(isFinal) {
      hosts.isClosed = true;
      await Promise.all(
        [...hosts.open.values()].map(async ({ link, home }) => {
          await link.call("leave", { isFinal: isFinal && home === "local" }).catch(() => {});
          link.close("the process of the service ends");
        }),
      );
    },
  };
}

async function find(hosts: Hosts, sessionId: string): Promise<ConnectedHost | undefined> {
  const found = await readHostedBrowser(hosts.deps.db, sessionId);
  const hostId = found?.row.hostId;
  if (!found || found.isLost || hostId == null) return undefined;
  const open = hosts.open.get(hostId);
  if (open) return open;
  const row = await readHost(hosts.deps.db, hostId);
  if (!row) return undefined;
  return connect(hosts, row).catch((error: unknown) => {
    throw new Error("The browser host of this session does not answer now; try again in a few seconds.", {
      cause: error,
    });
  });
}

/** Chooses the least loaded host that answers, or starts one on this machine. */
async function choose(hosts: Hosts): Promise<ConnectedHost> {
  const { deps } = hosts;
  for (const row of await listReachable(deps.db)) {
    if (row.home === "sandbox") continue;
    const host = hosts.open.get(row.id) ?? (await connect(hosts, row).catch(() => undefined));
    if (host) return host;
  }
  hosts.starting ??= startHere(hosts).finally(() => {
    hosts.starting = undefined;
  });
  return hosts.starting;
}

async function startHere(hosts: Hosts): Promise<ConnectedHost> {
  const { deps } = hosts;
  if (!deps.local) throw new Error("there is no browser host");
  if (hosts.isClosed) throw new Error("the service is closing");
  const id = `bh_${randomBytes(9).toString("base64url")}`;
  const token = randomBytes(32).toString("base64url");
  const local = await startLocalHost({ ...deps.local, id, token, listen: { host: "127.0.0.1", port: 0 } });
  await faultPoint("host-started");
  const row = {
    id,
    home: "local",
    sessionId: null,
    machine: MACHINE,
    url: local.url,
    sealedToken: deps.sealer.seal(tokenPlace(id), token),
    protocol: PROTOCOL_VERSION,
    places: deps.local.maxLive,
  } as const;
  await insertHost(deps.db, row);
  void local.exited.then(async (output) => {
    if (output !== "") deps.logger.debug({ output }, "a browser host ended");
    await giveUp(hosts, id);
  });
  return connect(hosts, row);
}

/** Lists the hosts that this process can reach: a local host of another machine listens only there. */
const listReachable = async (db: Database): Promise<HostRow[]> =>
  (await listHosts(db, PROTOCOL_VERSION)).filter(({ machine }) => machine === null || machine === MACHINE);

/**
 * Identifies the loopback interface of this process: the boot of the machine and the network namespace. Other systems
 * than Linux have no namespaces.
 */
const MACHINE = readMachine();

function readMachine(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/net")}`;
  } catch {
    return hostname();
  }
}

/** Records that a host has ended. */
async function giveUp({ deps }: Hosts, id: string): Promise<void> {
  try {
    await removeHost(deps.db, id);
    await faultPoint("host-given-up");
    deps.onHostEnded();
  } catch (error) {
    deps.logger.debug({ err: error, hostId: id }, "the end of a browser host was not recorded");
  }
}

/** Connects to a host, once for all callers. */
function connect(
  hosts: Hosts,
  row: Pick<HostRow, "id" | "home" | "url" | "sealedToken">,
): Promise<ConnectedHost> {
  const existing = hosts.connected.get(row.id);
  if (existing) return existing;
  if (hosts.isClosed) return Promise.reject(new Error("the service is closing"));
  const connecting = attach(hosts, row);
  hosts.connected.set(row.id, connecting);
  connecting.catch(() => hosts.connected.delete(row.id));
  return connecting;
}

async function attach(
  hosts: Hosts,
  { id, home, url, sealedToken }: Pick<HostRow, "id" | "home" | "url" | "sealedToken">,
): Promise<ConnectedHost> {
  const { deps } = hosts;
  const token = deps.sealer.open(tokenPlace(id), sealedToken);
  const handlers = createServiceHandlers(deps, id, {
    helpers: hosts.helpers,
    onLoad: (load) => hosts.loads.set(id, load),
  });
  const link = await openLink<HostCalls, ServiceCalls>({ url, token }, handlers, deps.logger).catch(
    async (error: unknown) => {
      // Only a process that has ended refuses connections at its own port.
      if (home === "local" && (error as { code?: string }).code === "ECONNREFUSED") await giveUp(hosts, id);
      throw error;
    },
  );
  const info = await link.call("attach", deps.settings);
  await faultPoint("host-attached");
  await link.call("control", { claims: deps.listClaims() });
  const host: ConnectedHost = { id, home, info, link };
  hosts.open.set(id, host);
  void link.ended.then((reason) => {
    hosts.open.delete(id);
    hosts.connected.delete(id);
    hosts.loads.delete(id);
    if (hosts.isClosed) return;
    deps.logger.warn({ hostId: id, reason }, "the connection to a browser host ended");
    // Connects again at once: the host may still run, and needs this process to keep its lease.
    void readHost(deps.db, id)
      .then((row) => row && connect(hosts, row))
      .catch(() => {});
  });
  return host;
}
