/** A failure of a call, as it happens with real servers. */
export type Mishap =
  /** The same request arrives twice at the same time; the first answer counts. */
  | { kind: "twice" }
  /** The call is executed, its answer is lost, and the same request is sent again. */
  | { kind: "answer-lost" }
  /** The app is unreachable: a failed attempt that it never receives. */
  | { kind: "refused" }
  /** The server gives up on the call (as at a time limit) while the app still runs it: a failed attempt. */
  | { kind: "given-up"; after: Promise<unknown> };

/** The call, as a test sees it when it chooses a mishap. */
export type CallView = {
  /** The id with the app's name as prefix: `agent-session-service-run-turn`. */
  functionId: string;
  runId: string;
  /** Counts the calls of this run, from 1. */
  number: number;
  attempt: number;
  data: Record<string, unknown>;
};

export type ChooseMishap = (call: CallView) => Mishap | undefined;
