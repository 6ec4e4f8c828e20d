import { readHostedBrowser } from "#lib/browser/store/browser-store.ts";
import { identifyHost } from "#lib/host-link/identify-host.ts";
import { PROTOCOL_VERSION } from "#lib/host-link/link-message.ts";
import { placeHostToken } from "#lib/session/secrets/secret-names.ts";
import {
  type ConnectedHost,
  createHostConnections,
  type HostConnections,
  type HostConnectionsDeps,
  UnreachableHostError,
} from "./host-connections.ts";
import { type HostRow, listHosts, readHost, reserveHost } from "./host-store.ts";
import { type LocalHostSettings, startHostHere } from "./local-hosts.ts";
import { createRemoteHosts, type RemoteHostSettings, type RemoteHosts } from "./remote-hosts.ts";
import type { RunningHelpers } from "./service-handlers.ts";

/** The browser hosts that this process can reach. */
export type BrowserHosts = {
  /**
   * Returns the host that runs the session's browser. If none does, returns the host on which it is to start; starts a
   * host if there is none. @throws UnreachableHostError; Error with a sentence if there is no host.
   */
  of: (sessionId: string) => Promise<ConnectedHost>;
  /** Returns the host that runs or starts the session's browser. Undefined if none does. */
  find: (sessionId: string) => Promise<ConnectedHost | undefined>;
  /** Like `find`. If no browser runs, returns the host at which a person has control of the session, if it is connected. */
  findLeased: (sessionId: string) => Promise<ConnectedHost | undefined>;
  /**
   * Returns the host in the session's box, or the least loaded host, for a new session. Starts a host if there is none.
   */
  choose: (sessionId?: string) => Promise<ConnectedHost>;
  list: () => ConnectedHost[];
  /** Returns the number of browsers that run at the connected hosts. */
  countLive: () => number;
  /** Describes the hosts on other machines. Undefined if the settings name none. */
  describeRemotes: () => string | undefined;
  /**
   * Connects to the hosts that earlier processes have left on this machine, to those of other processes, and to those of
   * other machines. Hosts of an older version take no new sessions from then on.
   */
  connectKnown: () => Promise<void>;
  /** Functions of this process that scripts of running calls can call. */
  helpers: RunningHelpers;
  close: (isFinal: boolean) => Promise<void>;
};

export type BrowserHostsDeps = Omit<HostConnectionsDeps, "helpers"> & {
  /** Undefined if this process cannot start a host on its machine. Without effect if `remote` or `boxed` is given. */
  local: LocalHostSettings | undefined;
  remote: RemoteHostSettings | undefined;
};

type Hosts = {
  deps: HostConnectionsDeps & BrowserHostsDeps;
  connections: HostConnections;
  remotes: RemoteHosts | undefined;
  starting: Promise<ConnectedHost> | undefined;
  isClosed: boolean;
};

/** Creates the hosts of this process. Connects to none yet. */
export function createBrowserHosts(given: BrowserHostsDeps): BrowserHosts {
  const helpers: RunningHelpers = new Map();
  const deps = { ...given, helpers };
  const connections = createHostConnections(deps);
  const remotes = deps.remote && createRemoteHosts({ ...deps, remote: deps.remote, connections });
  const hosts: Hosts = { deps, connections, remotes, starting: undefined, isClosed: false };
  return {
    async of(sessionId) {
      if (hosts.isClosed) throw new Error("the service is closing");
      return (await findLeased(hosts, sessionId)) ?? choose(hosts, sessionId);
    },
    findLeased: (sessionId) => findLeased(hosts, sessionId),
    find: (sessionId) => find(hosts, sessionId),
    choose: (sessionId) => choose(hosts, sessionId),
    list: connections.list,
    countLive: connections.countLive,
    describeRemotes: () => remotes?.describe(),
    connectKnown: () => connectKnown(hosts),
    helpers,
    async close(isFinal) {
      hosts.isClosed = true;
      remotes?.close();
      await connections.close(isFinal);
    },
  };
}

async function connectKnown({ deps, connections, remotes }: Hosts): Promise<void> {
  // A process connects to the host of a box when it uses the box's session.
  const rows = (await listHosts(deps.db, deps.machine)).filter(({ home }) => home !== "sandbox");
  await Promise.all([
    remotes?.connectAll(),
    ...rows.map((row) => {
      const connected = row.protocol === PROTOCOL_VERSION ? connections.connect(row) : announce(deps, row);
      return connected.catch((error: unknown) =>
        deps.logger.debug({ err: error, hostId: row.id }, "a browser host was not connected"),
      );
    }),
  ]);
}

/** Lets a host of another version know the version of this process. */
async function announce({ sealer }: HostConnectionsDeps, { id, url, sealedToken }: HostRow): Promise<void> {
  await identifyHost({ url, token: sealer.open(placeHostToken(id), sealedToken) });
}

async function findLeased(hosts: Hosts, sessionId: string): Promise<ConnectedHost | undefined> {
  const found = await find(hosts, sessionId);
  if (found) return found;
  const state = hosts.deps.control.stateOf(sessionId);
  return state?.holder ? hosts.connections.get(state.hostId) : undefined;
}

async function find({ deps, connections }: Hosts, sessionId: string): Promise<ConnectedHost | undefined> {
  const found = await readHostedBrowser(deps.db, sessionId);
  const hostId = found?.row.hostId;
  if (!found || found.isLost || hostId == null) return undefined;
  const open = connections.get(hostId);
  if (open) return open;
  const row = await readHost(deps.db, hostId);
  return (
    row &&
    connections.connect(row).catch(async (error: unknown) => {
      if (await connections.giveUpIfEnded(row)) return undefined;
      // The attempt may have shown that the host has ended.
      if (!(await readHost(deps.db, hostId))) return undefined;
      throw error;
    })
  );
}

/** How long a host may take to answer before another one is chosen for a new session. */
const ANSWER_MS_MAX = 2_000;
/** How long a host may take to answer if no other does. The link to a host that hangs ends at about the same time. */
const BUSY_MS_MAX = 10_000;

/**
 * Chooses the host in the session's box, or the least loaded host that answers; or starts one on this machine. Hosts that
 * are not connected come after the connected ones, because the service tries to connect to all hosts all the time.
 * Connected hosts that did not answer in time come last: one of them may be busy.
 */
async function choose(hosts: Hosts, sessionId?: string): Promise<ConnectedHost> {
  const { deps, connections } = hosts;
  if (deps.boxed) {
    if (sessionId === undefined) throw new Error("there is no browser host without a session");
    return deps.boxed.open(sessionId, async (row) => connections.get(row.id) ?? connections.connect(row));
  }
  const rows = (await listHosts(deps.db, deps.machine)).filter(
    ({ home, protocol }) =>
      protocol === PROTOCOL_VERSION && (deps.remote ? home === "remote" : home !== "sandbox"),
  );
  const known = Object.groupBy(rows, ({ id }) => (connections.get(id) ? "connected" : "others"));
  const chosen =
    (await chooseAnswering(hosts, known.connected)) ??
    (await chooseAnswering(hosts, known.others)) ??
    (await findFirstToAnswer(hosts, known.connected));
  if (chosen) return chosen;
  if (deps.remote) throw new UnreachableHostError("No browser host answers now; try again in a few seconds.");
  if (!deps.local) throw new Error("there is no browser host");
  if (hosts.isClosed) throw new Error("the service is closing");
  hosts.starting ??= startHostHere(deps, connections, deps.local).finally(() => {
    hosts.starting = undefined;
  });
  return hosts.starting;
}

/** Chooses the least loaded of these hosts that answers. */
async function chooseAnswering(
  { deps, connections }: Hosts,
  rows: HostRow[] = [],
): Promise<ConnectedHost | undefined> {
  const ids = new Set(rows.map(({ id }) => id));
  for (;;) {
    const row = await reserveHost(deps.db, [...ids]);
    if (!row) return undefined;
    const host = connections.get(row.id) ?? (await connections.connect(row).catch(() => undefined));
    if (host && (await host.link.answers(ANSWER_MS_MAX))) return host;
    ids.delete(row.id);
  }
}

/** Finds the connected host that answers first, if all of them are busy or hang. */
async function findFirstToAnswer(
  { connections }: Hosts,
  rows: HostRow[] = [],
): Promise<ConnectedHost | undefined> {
  const answers = rows.map(async ({ id }) => {
    const host = connections.get(id);
    if (!host || !(await host.link.answers(BUSY_MS_MAX))) throw new Error("the host did not answer");
    return host;
  });
  return Promise.any(answers).catch(() => undefined);
}
