import type { FollowUpMode } from "#db/schema/unions.ts";
import type { Publication } from "#lib/events/event.ts";
import type { OracleLine } from "../oracle/log-line.ts";
import type { Rows } from "./read-rows.ts";
import type { Wait } from "./watch-processes.ts";

/** A message that the service acknowledged with a 2xx. `nonce` stands in its text. */
export type Acknowledged = {
  sessionId: string;
  requestId: string;
  /** The run that was to answer it: its own, or for a steer the one it joined. */
  runId: string;
  mode: FollowUpMode;
  nonce: string;
  idempotencyKey: string;
  /** Wall clock, as the rows have it. */
  atMs: number;
};

/** One look at the agent status; wall clock, before the question and after the answer. */
export type StatusSample = { sessionId: string; fromMs: number; toMs: number; turnState: string };

/** What a client got from one opening of a request's stream. */
export type StreamReading = { sessionId: string; requestId: string; after: number; text: string };

/** A process of the service that was still there when its service had long ended. */
type LeftProcess = { pid: number; name: string };

/** A line that a command of the agent left behind: it ran. Wall clock. */
export type Execution = { nonce: string; atMs: number };

/** A change of a publication that a client asked for over HTTP. */
export type PublicationChange = {
  variant: string;
  wanted: "publish" | "unpublish" | { rollback: number };
  /** The number of the current release in the 2xx answer, null if unpublished; undefined if no answer came. */
  release?: number | null;
};

/** A script as a visitor loaded it. */
export type LoadedScript = {
  publicationId: string;
  /** The number of the release in the address; null for the script of the current release. */
  pinned: number | null;
  status: number;
  /** Of the bytes that came. */
  integrity: string;
  isEmpty: boolean;
};

/** All publications as the interface showed them at one time, with their scripts. */
export type PublicationReading = {
  /** How many of the changes had been asked for. */
  changeCount: number;
  publications: { id: string; sessionId: string | null; variant: string; publication: Publication | null }[];
  scripts: LoadedScript[];
};

/** A session that a client deleted. */
export type Deletion = {
  sessionId: string;
  /** The tags of its messages. */
  nonces: string[];
  /** How many readings came before it. */
  readingCount: number;
  /** The ids of the publications in the answer; undefined if no answer came. */
  publicationIds?: string[];
};

/** Everything known about one run of the campaign, once it is over. */
export type Evidence = {
  rows: Rows;
  oracle: OracleLine[];
  acknowledged: Acknowledged[];
  /** Answers to questions that the service acknowledged with a 2xx. */
  taken: { elicitationId: string; text: string }[];
  publishing: { changes: PublicationChange[]; readings: PublicationReading[]; deletions: Deletion[] };
  samples: StatusSample[];
  streams: StreamReading[];
  left: LeftProcess[];
  executions: Execution[];
  callbackSecrets: Map<string, string>;
  schedule: { baseMs: number; factor: number };
  /** How late a step of the engine may be made because this run let one fail, which is made again. */
  repeatMs: number;
  /** The starts of processes, until all their code was loaded, which holds everything else up; monotonic. */
  starts: { fromMs: number; toMs: number }[];
  waits: Wait[];
  /** When the service ended, wall clock. */
  endedAtMs: number;
  /** Times at which this run killed, stopped or cut off something; monotonic. */
  disturbedAtMs: number[];
  canaries: string[];
  /** Where a canary must not be, by name. */
  haystacks: { name: string; text: string }[];
};

/** How long the machine kept the service waiting for a processor, within a time on the oracle's clock. */
export const sumWaits = ({ waits }: Evidence, fromMs: number, toMs: number): number =>
  waits.reduce((sum, wait) => (wait.toMs >= fromMs && wait.fromMs <= toMs ? sum + wait.ms : sum), 0);

/** A promise of the service: its name, and what evidence there is against it. */
export type Invariant = { id: string; promise: string; findViolations: (evidence: Evidence) => string[] };
