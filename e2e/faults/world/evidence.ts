import type { FollowUpMode } from "#db/schema/unions.ts";
import type { Publication } from "#lib/events/event.ts";
import type { OracleLine } from "../oracle/log-line.ts";
import type { Rows } from "./read-rows.ts";
import type { Wait } from "./watch-processes.ts";

/** A message that the service acknowledged with a 2xx. Its text contains `nonce`. */
export type Acknowledged = {
  sessionId: string;
  requestId: string;
  /** The run in the answer: the message's own run, or for a steer the run that it joined. */
  runId: string;
  mode: FollowUpMode;
  nonce: string;
  idempotencyKey: string;
  /** Milliseconds of the wall clock, which the rows use too. */
  atMs: number;
};

/** One reading of the agent status; `fromMs` and `toMs` are the wall clock before the request and after the answer. */
export type StatusSample = { sessionId: string; fromMs: number; toMs: number; turnState: string };

/** The text that a client received from a request's stream when it read after event `after`. */
export type StreamReading = { sessionId: string; requestId: string; after: number; text: string };

/** A process of the service that was still running 30 s after the service had ended. */
type LeftProcess = { pid: number; name: string };

/** A line that a command of the agent wrote when it ran; wall clock. */
export type Execution = { nonce: string; atMs: number };

/** A change of a publication that a client requested over HTTP. */
export type PublicationChange = {
  variant: string;
  wanted: "publish" | "unpublish" | { rollback: number };
  /** The number of the current release in the 2xx answer, null if unpublished; undefined if no answer arrived. */
  release?: number | null;
};

/** A script as a visitor loaded it. */
export type LoadedScript = {
  publicationId: string;
  /** The number of the release in the address; null for the script of the current release. */
  pinned: number | null;
  status: number;
  /** `sha384-…` of the bytes that were received. */
  integrity: string;
  isEmpty: boolean;
};

/** All publications as the API listed them at one time, with their scripts. */
export type PublicationReading = {
  /** How many changes had been requested before this reading. */
  changeCount: number;
  publications: { id: string; sessionId: string | null; variant: string; publication: Publication | null }[];
  scripts: LoadedScript[];
};

/** A session that a client deleted. */
export type Deletion = {
  sessionId: string;
  /** The tags of its messages. */
  nonces: string[];
  /** How many readings were taken before the deletion. */
  readingCount: number;
  /** The ids of the publications in the answer; undefined if no answer arrived. */
  publicationIds?: string[];
};

/** Everything that was recorded about one run of a case. */
export type Evidence = {
  rows: Rows;
  oracle: OracleLine[];
  acknowledged: Acknowledged[];
  /** Answers to questions that the service acknowledged with a 2xx. */
  acknowledgedAnswers: { elicitationId: string; text: string }[];
  publishing: { changes: PublicationChange[]; readings: PublicationReading[]; deletions: Deletion[] };
  samples: StatusSample[];
  streams: StreamReading[];
  leftProcesses: LeftProcess[];
  executions: Execution[];
  callbackSecrets: Map<string, string>;
  schedule: { baseMs: number; factor: number };
  /** How much later a step of the engine may run because this run made one fail, which the engine repeats. */
  repeatMs: number;
  /** When processes started, and when all their code was loaded, which delays other work; monotonic. */
  starts: { fromMs: number; toMs: number }[];
  waits: Wait[];
  /** When the service ended, wall clock. */
  endedAtMs: number;
  /** Times at which this run killed, suspended or disconnected a process; monotonic. */
  disturbedAtMs: number[];
  canaries: string[];
  /** Texts that must not contain a canary, with their names. */
  haystacks: { name: string; text: string }[];
};

/** Milliseconds that the service waited for a processor between two moments of the oracle's clock. */
export const sumWaits = ({ waits }: Evidence, fromMs: number, toMs: number): number =>
  waits.reduce((sum, wait) => (wait.toMs >= fromMs && wait.fromMs <= toMs ? sum + wait.ms : sum), 0);

/** A promise of the service, and the function that finds violations of it in the evidence. */
export type Invariant = { id: string; promise: string; findViolations: (evidence: Evidence) => string[] };
