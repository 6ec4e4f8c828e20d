/** What befalls a call on its way, as it befalls calls of a real server. */
export type Mishap =
  /** The same request arrives twice at the same time; the answer that comes first counts. */
  | { kind: "twice" }
  /** The call is carried out, its answer is lost, and the same request is sent again. */
  | { kind: "answer-lost" }
  /** The app is not there: a failed attempt, of which it never hears. */
  | { kind: "refused" }
  /** The server gives the call up after a while, as at a time limit, and the app goes on with it: a failed attempt. */
  | { kind: "given-up"; after: Promise<unknown> };

/** What a test knows of a call when it decides on a mishap. */
export type CallView = {
  /** With the app's name: `agent-session-service-run-turn`. */
  functionId: string;
  runId: string;
  /** Counts the calls of this run, from 1. */
  number: number;
  attempt: number;
  data: Record<string, unknown>;
};

export type ChooseMishap = (call: CallView) => Mishap | undefined;
