import type { AnnotationRecord, Deliverable, FollowUpAccepted } from "./wire.ts";

/** Marks the messages between a host page and the frame of a session. Source: `wire.md`, Embedding. */
const FRAME_PROTOCOL = "agent-session";
/** The version of these messages. A new version may remove messages or fields; the same version only adds some. */
const FRAME_VERSION = 1;

/** The most characters that the text of `send` may have. */
export const HOST_TEXT_CHARS_MAX = 100_000;

/** The state of the session that a frame shows. */
export type FrameState = {
  /** Whether the frame follows the session at this moment. */
  connection: "connecting" | "open" | "reconnecting";
  turnState: "idle" | "running" | "compacting";
  activeRunId: string | null;
  lastRunId: string | null;
  /** Who has control of the live browser: the person in this frame, another person, or no person. */
  control: "frame" | "someone" | null;
  browserStatus: "idle" | "creating" | "ready" | "expired" | "error";
  /** The page that the live browser shows; null if it has shown none. */
  browserUrl: string | null;
  /** How many questions of the agent wait for an answer, and how many messages wait for their turn. */
  openQuestions: number;
  queuedMessages: number;
};

/** Why a frame shows nothing of its session, or no longer. */
export type FrameEnd =
  /** The token is wrong, was revoked, or has expired. */
  | "unauthorized"
  /** The link may not be shown by the page around the frame. */
  | "forbidden"
  /** The session was removed. */
  | "not found";

/** What a frame sends to its host page. */
export type FrameMessage =
  /** The page of the frame has loaded. The host page answers with its own `hello`. */
  | { type: "hello" }
  | {
      type: "ready";
      sessionId: string;
      role: "view" | "comment" | "drive";
      /** Whether the frame shows the whole session, or its live view only. */
      scope: "session" | "live-view";
      hasBrowser: boolean;
      state: FrameState;
      /** The newest result that has settled; null if there is none. */
      deliverable: Deliverable | null;
    }
  | { type: "state"; state: FrameState }
  /** A result has settled: its status is `ready` or `failed`. */
  | { type: "deliverable"; deliverable: Deliverable }
  | { type: "annotation"; annotation: AnnotationRecord }
  /** The height that the conversation needs, in CSS pixels. */
  | { type: "height"; height: number }
  | { type: "ended"; reason: FrameEnd }
  /** The outcome of the command with this id. */
  | { type: "result"; id: string; isDone: true; accepted: HostMessageAccepted | null }
  | { type: "result"; id: string; isDone: false; error: string };

export type HostMessageAccepted = Pick<FollowUpAccepted, "requestId" | "runId" | "queued">;

/** What a host page sends to its frame. Each command with an `id` is answered with one `result`. */
export type HostMessage = { type: "hello" } | HostCommand;

export type HostCommand = { id: string } & (
  | { type: "send"; text: string; mode?: "queue" | "steer" | "interrupt" | undefined }
  | { type: "takeOver" }
  | { type: "giveBack"; note?: string | undefined }
);

/** Adds the envelope of the protocol to a message. */
export const enclose = <Message extends FrameMessage | HostMessage>(message: Message) => ({
  ...message,
  protocol: FRAME_PROTOCOL,
  version: FRAME_VERSION,
});

/** Whether some received data has the envelope of this version. */
export function isEnclosed(data: unknown): data is { type: string } {
  if (typeof data !== "object" || data === null) return false;
  const { protocol, version, type } = data as Record<string, unknown>;
  return protocol === FRAME_PROTOCOL && version === FRAME_VERSION && typeof type === "string";
}
