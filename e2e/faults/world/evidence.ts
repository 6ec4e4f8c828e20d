import type { FollowUpMode } from "#db/schema/unions.ts";
import type { Publication } from "#lib/events/event.ts";
import type { RecordedLine } from "../recorder/log-line.ts";
import type { Rows } from "./read-rows.ts";
import type { Wait } from "./watch-processes.ts";

/** A message that the service acknowledged with a 2xx. The message contains `nonce`. */
export type Acknowledged = {
  sessionId: string;
  requestId: string;
  /** The run that the answer named: the message's own run, or the run that a steer joined. */
  runId: string;
  mode: FollowUpMode;
  nonce: string;
  idempotencyKey: string;
  /** Time of the answer, in milliseconds since the epoch. */
  atMs: number;
};

/**
 * A reading of the agent status. `fromMs` and `toMs` are the times before the request and after the answer, in
 * milliseconds since the epoch.
 */
export type StatusSample = { sessionId: string; fromMs: number; toMs: number; turnState: string };

/** What a client received when it read the stream of a request after event `after`. */
export type StreamReading = { sessionId: string; requestId: string; after: number; text: string };

/** A process that the service had started and that still ran 30 s after the service had ended. */
type LeftProcess = { pid: number; name: string };

/** An execution of a command, read from the line that the command wrote. `atMs` is in milliseconds since the epoch. */
export type Execution = { nonce: string; atMs: number };

/** A change of a publication that a client requested over HTTP. */
export type PublicationChange = {
  variant: string;
  wanted: "publish" | "unpublish" | { rollback: number };
  /**
   * The number of the current release in the 2xx answer, or null if the variant is not published. Undefined if no 2xx
   * answer arrived.
   */
  release?: number | null;
};

/** A script of a publication that was loaded without an API key. */
export type LoadedScript = {
  publicationId: string;
  /** The release number in the script's URL; null for the URL without a number, which serves the current release. */
  pinned: number | null;
  status: number;
  /** The hash `sha384-…` of the bytes that were received. */
  integrity: string;
  isEmpty: boolean;
};

/** All publications as the API listed them at one time, together with their scripts. */
export type PublicationReading = {
  /** The number of changes that clients had requested before this reading. */
  changeCount: number;
  publications: { id: string; sessionId: string | null; variant: string; publication: Publication | null }[];
  scripts: LoadedScript[];
};

/** The deletion of a session by a client. */
export type Deletion = {
  sessionId: string;
  /** The nonces of the session's acknowledged messages. */
  nonces: string[];
  /** The number of readings that were taken before the deletion. */
  readingCount: number;
  /** The publications that the answer named; undefined if no answer arrived. */
  publicationIds?: string[];
};

/** Everything that was recorded during one run of a case. */
export type Evidence = {
  rows: Rows;
  traffic: RecordedLine[];
  acknowledged: Acknowledged[];
  /** Answers to the agent's questions, which the service acknowledged with a 2xx. */
  acknowledgedAnswers: { elicitationId: string; text: string }[];
  publishing: { changes: PublicationChange[]; readings: PublicationReading[]; deletions: Deletion[] };
  samples: StatusSample[];
  streams: StreamReading[];
  leftProcesses: LeftProcess[];
  executions: Execution[];
  callbackSecrets: Map<string, string>;
  schedule: { baseMs: number; factor: number };
  /**
   * The time by which a step may be late because the engine repeats it. It is 0 if the case does not make steps fail.
   */
  repeatMs: number;
  /**
   * For each process, the monotonic times when it was started and when all its code was loaded. While a process loads
   * code, other work is delayed.
   */
  starts: { fromMs: number; toMs: number }[];
  waits: Wait[];
  /** When the service ended, in milliseconds since the epoch. */
  endedAtMs: number;
  /** Monotonic times at which the run disturbed the service, its database or its browser, for example by a kill. */
  disturbedAtMs: number[];
  canaries: string[];
  /** Texts that must not contain a canary. `name` says where the text was found. */
  haystacks: { name: string; text: string }[];
};

/** Sums the milliseconds that the service waited for a processor from `fromMs` to `toMs` on the monotonic clock. */
export const sumWaits = ({ waits }: Evidence, fromMs: number, toMs: number): number =>
  waits.reduce((sum, wait) => (wait.toMs >= fromMs && wait.fromMs <= toMs ? sum + wait.ms : sum), 0);

/** A promise of the service. `findViolations` returns one sentence for each violation in the evidence. */
export type Invariant = { id: string; promise: string; findViolations: (evidence: Evidence) => string[] };
