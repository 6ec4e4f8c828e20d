/** A failure of a call, as it happens with real servers. */
export type DeliveryFault =
  /** The same request arrives twice at the same time; the first answer counts. */
  | { kind: "twice" }
  /** The call is executed, its answer is lost, and the same request is sent again. */
  | { kind: "answer-lost" }
  /** The app is unreachable and never receives the call, which counts as a failed attempt. */
  | { kind: "refused" }
  /**
   * The server stops waiting for the call, for example at a time limit, and counts a failed attempt. The app still
   * executes the call.
   */
  | { kind: "given-up"; after: Promise<unknown> };

/** The call, as a test sees it when it chooses a deliveryFault. */
export type CallView = {
  /** The function's id, prefixed with the app's id, such as `agent-session-service-run-turn`. */
  functionId: string;
  runId: string;
  /** Counts the calls of this run, from 1. */
  number: number;
  attempt: number;
  data: Record<string, unknown>;
};

export type ChooseDeliveryFault = (call: CallView) => DeliveryFault | undefined;
