import type { Database } from "#db/client.ts";
import { identifyHost } from "#lib/host-link/identify-host.ts";
import { PROTOCOL_VERSION } from "#lib/host-link/link-message.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import { placeHostToken } from "#lib/session/secrets/secret-names.ts";
import type { HostConnections } from "./host-connections.ts";
import { removeEarlierHosts, storeHost } from "./host-store.ts";

/** The hosts of other machines that the settings name (`BROWSER_HOSTS`), with the token that all of them demand. */
export type RemoteHostSettings = { urls: readonly string[]; token: string };

/** Keeps this process connected to the remote hosts. */
export type RemoteHosts = {
  /** Connects to those that are not connected. Never rejects. */
  connectAll: () => Promise<void>;
  /** Describes how many hosts are connected, and why the others are not. */
  describe: () => string;
  close: () => void;
};

type RemoteHostsDeps = {
  db: Database;
  logger: Logger;
  sealer: Sealer;
  remote: RemoteHostSettings;
  connections: Pick<HostConnections, "connect" | "get">;
  /** Called when a host has ended: its browsers are lost. */
  onHostEnded: () => void;
};

/** One address of the settings. `problem`: why it was not connected the last time, as it was logged. */
type Remote = { url: string; hostId: string | undefined; problem: string | undefined };

const RETRY_MS = 5_000;

/** @see RemoteHosts */
export function createRemoteHosts(deps: RemoteHostsDeps): RemoteHosts {
  const { remote, connections, logger } = deps;
  const remotes = remote.urls.map((url): Remote => ({ url, hostId: undefined, problem: undefined }));
  let isConnecting = false;

  async function connectOne(each: Remote): Promise<void> {
    if (each.hostId !== undefined && connections.get(each.hostId)) return;
    try {
      each.hostId = await connectRemote(deps, each.url);
      if (each.problem !== undefined)
        logger.info({ hostId: each.hostId }, "a browser host can be reached again");
      each.problem = undefined;
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      const { host } = new URL(each.url);
      // A host may be away for long, so only the first attempt is logged.
      if (each.problem === undefined)
        logger.warn(
          { err: error, host },
          "a browser host of BROWSER_HOSTS cannot be used; it is tried again",
        );
      each.problem = problem;
    }
  }

  async function connectAll(): Promise<void> {
    if (isConnecting) return;
    isConnecting = true;
    await Promise.all(remotes.map(connectOne));
    isConnecting = false;
  }
  const timer = setInterval(() => void connectAll(), RETRY_MS).unref();
  return { connectAll, describe: () => describeAll(remotes), close: () => clearInterval(timer) };
}

function describeAll(remotes: Remote[]): string {
  const problems = remotes.flatMap(({ url, problem }) =>
    problem === undefined ? [] : [`${new URL(url).host}: ${problem}`],
  );
  const connected = remotes.length - problems.length;
  return [`${connected} of ${remotes.length} browser hosts of BROWSER_HOSTS can be used`, ...problems].join(
    "; ",
  );
}

/** @returns the id of the host, which is connected. */
async function connectRemote(deps: RemoteHostsDeps, url: string): Promise<string> {
  const { db, sealer, remote, connections, onHostEnded } = deps;
  const { token } = remote;
  const { id, protocol, places } = await identifyHost({ url, token });
  if (protocol !== PROTOCOL_VERSION)
    throw new Error(`it has another version (${protocol}, this process has ${PROTOCOL_VERSION})`);
  // A process that has started again at the address has another id. What ran in the earlier one is lost.
  if (await removeEarlierHosts(db, { id, url })) onHostEnded();
  const row = await storeHost(db, {
    id,
    home: "remote",
    sessionId: null,
    machine: null,
    url,
    sealedToken: sealer.seal(placeHostToken(id), token),
    protocol,
    places,
  });
  await connections.connect(row);
  return id;
}
