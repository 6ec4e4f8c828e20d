/**
 * How long a person keeps control of a browser, in milliseconds.
 *
 * - `awayMs`: after the end of the person's connection.
 * - `idleMs`: without input. For the last `warnMs` of it, the person sees a countdown.
 * - `scriptEndMs`: how long a person who takes control waits at most for the end of the agent's script.
 */
export const CONTROL_TIMES = { awayMs: 30_000, idleMs: 120_000, warnMs: 30_000, scriptEndMs: 5_000 };

export type ControlTimes = typeof CONTROL_TIMES;

/** The longest note that a person can leave for the agent, in characters. */
export const CONTROL_NOTE_MAX = 1_000;

/** Who has control of a session's browser, as the browser's host tells it. */
export type ControlState = {
  sessionId: string;
  hostId: string;
  /** Rises with each change of the session's control at this host. */
  stamp: number;
  /** Null while no person has control. */
  holder: ControlHolder | null;
  /** Why the control of the last person ended. Null while a person has control. */
  ended: ControlEnd | null;
  /**
   * Whether the browser is handed over to a person, or the person who has control has had it during a handover. Only this
   * person may see the page then, and nothing of it may be kept. Source: decision 126.
   */
  isPrivate: boolean;
};

/** The state of a session that has no host now. */
export const freeState = (sessionId: string): ControlState => ({
  sessionId,
  hostId: "",
  stamp: 0,
  holder: null,
  ended: null,
  isPrivate: false,
});

/** The person who has control. */
type ControlHolder = {
  connectionId: string;
  name: string;
  /** When control ends unless the person does something. Null if that is not near. */
  expiry: ControlExpiry | null;
};

/** `idle`: there was no input for long. `away`: the connection has ended. `at` is an ISO 8601 time. */
export type ControlExpiry = { reason: "idle" | "away"; at: string };

/** `revoked`: the person may not control the browser any more. `host`: the browser's host has ended. */
export type ControlEnd = "given_back" | "idle" | "away" | "taken" | "revoked" | "host";

/**
 * What a connection wants from the host.
 *
 * - `take`: control, also from another connection.
 * - `resume`: the control that an earlier connection of the same person had; `secret` proves that it is the same.
 * - `keep`: the person is still there.
 * - `stay`: the connection is still open, although the link to the host had ended.
 * - `give_back`: the end of control, with a note for the agent.
 * - `leave`: the connection has ended. With a `reason`, the control ends at once.
 */
export type ControlRequest = { connectionId: string } & (
  | { type: "take"; name: string }
  | { type: "resume"; name: string; secret: string }
  | { type: "keep" }
  | { type: "stay" }
  | { type: "give_back"; note: string | null }
  | { type: "leave"; reason: "given_back" | "revoked" | null }
);

/** The state after a request. `secret` is set if the connection got control: a later connection resumes with it. */
export type ControlAnswer = { state: ControlState; secret: string | null };

/** What a person did while they had control. */
export type ControlRecord = {
  name: string;
  reason: ControlEnd;
  /** Name of the person who took control from this person. */
  takenBy: string | null;
  note: string | null;
  /** Address of the page at the end. Null if no browser ran. */
  address: string | null;
  /** Names of the fields that were filled, without their values. */
  fields: string[];
  clicks: number;
};
