import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Database } from "#db/client.ts";
import { relayLink } from "#lib/host-link/relay-link.ts";
import { isRelayToken } from "#lib/host-link/relay-token.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import { placeHostToken } from "#lib/session/secrets/secret-names.ts";
import { readHost } from "./host-store.ts";

/**
 * Relays the links of processes on other machines to the hosts that this process can reach.
 * @returns whether the request is for a relayed link; its socket is then answered.
 */
export type HostRelay = (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean;

type HostRelayDeps = { db: Database; sealer: Sealer; machine: string; key: Uint8Array; logger: Logger };

/** Creates the relay. A request without a token that was signed with the deployment's key gets 401, before any query. */
export function createHostRelay(deps: HostRelayDeps): HostRelay {
  return (request, socket, head) => {
    if (!request.url?.startsWith("/internal/")) return false;
    const refuse = (status: string) => socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    const [, hostId, path] =
      /^\/internal\/browser-hosts\/(bh_[\w-]{1,32})(\/link\/\d{1,6})$/.exec(request.url) ?? [];
    const token = /^Bearer (.{1,200})$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    if (hostId === undefined || path === undefined) refuse("404 Not Found");
    else if (!isRelayToken(deps.key, hostId, token)) refuse("401 Unauthorized");
    else
      connect(deps, hostId, path, { request, socket, head }).catch((error: unknown) => {
        deps.logger.warn({ err: error, hostId }, "a link to a browser host was not relayed");
        refuse("502 Bad Gateway");
      });
    return true;
  };
}

async function connect(
  { db, sealer, machine }: HostRelayDeps,
  hostId: string,
  path: string,
  incoming: Parameters<typeof relayLink>[2],
): Promise<void> {
  const row = await readHost(db, hostId);
  const isReachable = row && (row.machine === null || row.machine === machine);
  if (!isReachable) throw new Error("this process cannot reach the host");
  relayLink({ url: row.url, token: sealer.open(placeHostToken(hostId), row.sealedToken) }, path, incoming);
}
