import { WebSocket } from "ws";
import { CLOSE } from "#lib/client/close-codes.ts";
import type { Topic } from "#lib/events/bus/topic.ts";
import type { KeptAddress } from "#lib/security-log/request-address.ts";
import type { LiveClientFrame } from "../contract/schemas/live-frames.ts";
import type { ApiServices } from "../handlers/services.ts";
import type { Client } from "../http/client-address.ts";
import { type AdmissionServices, admitToken, type Viewer } from "./admit-viewer.ts";
import { parseClientFrame } from "./client-frame.ts";
import { type LiveState, type ServedViewer, serveViewer, type ViewerServices } from "./serve-viewer.ts";

/** Maximum number of frames that wait while the token in the first frame is checked. */
const EARLY_FRAMES_MAX = 32;
/** Close codes for refused credentials, by error code. After any other error, the client may try again later. */
const REFUSED: Record<string, number> = {
  unauthorized: CLOSE.unauthorized,
  forbidden: CLOSE.forbidden,
  not_found: CLOSE.notFound,
};

/** The codes of a client that closes its connection on purpose: normal closure, and a close frame without a code. */
const DELIBERATE_CODES = new Set([1000, 1005]);

export type LiveServices = AdmissionServices &
  ViewerServices &
  Pick<ApiServices, "access" | "control" | "failedAttempts"> & {
    /** Opens a topic for short messages between processes. */
    openTopic: (name: string) => Topic;
  };

/** The request that opened a connection. */
type LiveRequest = {
  sessionId: string;
  after: number | undefined;
  /** Undefined if the request had no credential. The client must then send one in its first frame. */
  viewer: Viewer | undefined;
  /** Runs a function in the context of the request, so that the security log records the client's address. */
  inRequest: KeptAddress;
  client: Client;
};

/**
 * Starts serving a connection that was just opened. If its request had no credential, authenticates the client by its
 * first frame. Parses each frame of the client and passes it to the code that serves the viewer.
 *
 * @param authTimeoutMs milliseconds within which a client without a credential must send one.
 */
export function greetConnection(
  services: LiveServices,
  state: LiveState,
  webSocket: WebSocket,
  { sessionId, after, viewer, inRequest, client }: LiveRequest,
  authTimeoutMs: number,
): void {
  const { logger } = services;
  let served: ServedViewer | undefined;
  let early: LiveClientFrame[] | undefined;
  let timeout: NodeJS.Timeout | undefined;
  let stopWatching: (() => void) | undefined;

  const refuse = (code: number, reason: string) => webSocket.close(code, clip(reason));
  const serve = (admitted: Viewer) => {
    served = serveViewer(services, state, webSocket, admitted, after);
    if (!admitted.grant) return;
    stopWatching = services.access.watch(admitted.grant, ({ reason, sentence }) => {
      refuse(reason === "ended" ? CLOSE.unauthorized : CLOSE.tryLater, sentence);
      // Serving stops at once, because a peer can ignore the close frame and leave the connection open.
      served?.leave(reason === "ended" ? "revoked" : null);
      served = undefined;
    });
  };

  async function checkToken(token: string): Promise<void> {
    const admission = await admitToken(services, token, sessionId);
    if (webSocket.readyState !== WebSocket.OPEN) return;
    if (!admission.ok) {
      const { code, error } =
        admission.code === "unauthorized" ? services.failedAttempts.refuse(client, admission) : admission;
      refuse(REFUSED[code] ?? CLOSE.tryLater, error);
      return;
    }
    serve(admission.viewer);
    for (const frame of early ?? []) served?.receive(frame);
    early = undefined;
  }

  function receive(frame: LiveClientFrame): void {
    if (served) served.receive(frame);
    else if (early && early.length < EARLY_FRAMES_MAX) early.push(frame);
    else if (early) refuse(CLOSE.violation, "too many frames before ready");
    else if (frame.type !== "auth") refuse(CLOSE.unauthorized, "the first frame must be auth");
    else {
      clearTimeout(timeout);
      early = [];
      inRequest(() => checkToken(frame.token)).catch((error) => {
        logger.error({ err: error, sessionId }, "the credential of a live connection could not be checked");
        refuse(CLOSE.broken, "something went wrong on our side; connect again");
      });
    }
  }

  webSocket.on("message", (data: Buffer, isBinary) => {
    if (webSocket.readyState !== WebSocket.OPEN) return;
    const parsed = parseClientFrame(data, isBinary);
    if (parsed.ok) receive(parsed.frame);
    else refuse(parsed.code, parsed.reason);
  });
  webSocket.on("error", (error) => logger.debug({ err: error, sessionId }, "a live connection failed"));
  webSocket.on("close", (code) => {
    clearTimeout(timeout);
    stopWatching?.();
    served?.leave(DELIBERATE_CODES.has(code) ? "given_back" : null);
  });
  if (viewer) serve(viewer);
  else
    timeout = setTimeout(() => refuse(CLOSE.unauthorized, "no auth frame was sent in time"), authTimeoutMs);
}

/**
 * Truncates a close reason, because RFC 6455, 5.5 limits it to 123 bytes. Drops a character that the cut would split.
 */
const clip = (reason: string): string =>
  new TextDecoder().decode(Buffer.from(reason).subarray(0, 120)).replace(/\uFFFD+$/, "");
