import { WebSocket } from "ws";
import type { Logger } from "#lib/log/logger.ts";
import { createLink, type Link, type LinkHandlers, type LinkMethods } from "./link.ts";
import { linkPath, MESSAGE_BYTES_MAX, PROTOCOL_VERSION } from "./link-message.ts";

/**
 * Where a browser host listens: a URL with `ws:` or `wss:`, and the token that it demands. A process that relays links to
 * the host has a path in its URL.
 */
export type HostEndpoint = { url: string; token: string };

/** The host speaks another version of the protocol. It takes no new sessions, and ends when its last one has ended. */
export class OtherVersionError extends Error {
  override name = "OtherVersionError";
}

const CONNECT_MS_MAX = 5_000;

/**
 * Connects to a browser host.
 *
 * @throws OtherVersionError if the host speaks another version; Error if it cannot be reached or refuses the token.
 */
export async function openLink<Remote extends LinkMethods, Local extends LinkMethods>(
  { url, token }: HostEndpoint,
  handlers: LinkHandlers<Local>,
  logger: Logger,
): Promise<Link<Remote>> {
  const address = new URL(url);
  address.pathname = address.pathname.replace(/\/$/, "") + linkPath(PROTOCOL_VERSION);
  const socket = new WebSocket(address, {
    headers: { authorization: `Bearer ${token}` },
    handshakeTimeout: CONNECT_MS_MAX,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
    socket.once("unexpected-response", (request, response) => {
      request.destroy();
      const { statusCode } = response;
      reject(
        statusCode === 426
          ? new OtherVersionError("the browser host speaks another version of the protocol")
          : new Error(`the browser host answered ${statusCode}`),
      );
    });
  });
  return createLink<Remote, Local>(socket, handlers, logger);
}
