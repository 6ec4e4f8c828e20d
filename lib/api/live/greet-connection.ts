import { WebSocket } from "ws";
import { CLOSE } from "#lib/client/close-codes.ts";
import type { Words } from "#lib/events/bus/words.ts";
import type { KeptAddress } from "#lib/security-log/request-address.ts";
import type { LiveClientFrame } from "../contract/schemas/live-frames.ts";
import type { Client } from "../http/client-address.ts";
import type { ApiServices } from "../services.ts";
import { type AdmissionServices, admitToken, type Viewer } from "./admit-viewer.ts";
import { parseClientFrame } from "./client-frame.ts";
import { type LiveState, type ServedViewer, serveViewer, type ViewerServices } from "./serve-viewer.ts";

/** Frames that may wait while the first one's token is checked. */
const EARLY_FRAMES_MAX = 32;
/** How a refused credential closes the connection; for any other reason a later try may be let in. */
const REFUSED: Record<string, number> = {
  unauthorized: CLOSE.unauthorized,
  forbidden: CLOSE.forbidden,
  not_found: CLOSE.notFound,
};

export type LiveServices = AdmissionServices &
  ViewerServices &
  Pick<ApiServices, "access" | "control" | "failedAttempts"> & {
    /** Opens a topic of words between processes. */
    words: (topic: string) => Words;
  };

/** What a connection asks for; without a viewer its first frame must bring the credential. */
type LiveRequest = {
  sessionId: string;
  after: number | undefined;
  viewer: Viewer | undefined;
  inRequest: KeptAddress;
  client: Client;
};

/**
 * Takes up an open connection: its frames are checked one by one and reach the viewer's side once there is one.
 *
 * @param authTimeoutMs how long a connection without a credential may take to bring one.
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
  let stopHolding: (() => void) | undefined;

  const refuse = (code: number, reason: string) => webSocket.close(code, clip(reason));
  const serve = (admitted: Viewer) => {
    served = serveViewer(services, state, webSocket, admitted, after);
    if (!admitted.grant) return;
    stopHolding = services.access.hold(admitted.grant, ({ reason, sentence }) => {
      refuse(reason === "ended" ? CLOSE.unauthorized : CLOSE.tryLater, sentence);
      // A closing socket sends and takes nothing more, even if its peer never answers the close.
      served?.leave();
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
        logger.error({ err: error, sessionId }, "a live connection's credential could not be checked");
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
  webSocket.on("error", (error) => logger.debug({ err: error, sessionId }, "a live connection broke"));
  webSocket.on("close", () => {
    clearTimeout(timeout);
    stopHolding?.();
    served?.leave();
  });
  if (viewer) serve(viewer);
  else timeout = setTimeout(() => refuse(CLOSE.unauthorized, "no auth frame came"), authTimeoutMs);
}

/** A close reason holds 123 bytes (RFC 6455, 5.5); a character cut in two at the end goes. */
const clip = (reason: string): string =>
  new TextDecoder().decode(Buffer.from(reason).subarray(0, 120)).replace(/\uFFFD+$/, "");
