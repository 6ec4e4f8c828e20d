import type { Database } from "#db/client.ts";
import type {
  CallbackEvent,
  CapabilitiesRow,
  InteractionRow,
  SessionSkill,
  Source,
  ToolPolicyRow,
} from "#db/schema/index.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import { shorten } from "#lib/text/shorten.ts";
import type { Budget } from "../budget/budget.ts";
import type { DelegationCaps } from "../delegation.ts";
import { type IncomingMessage, toMessageRows } from "../follow-up/incoming-message.ts";
import type { JobSender } from "../jobs/job-sender.ts";
import { newId } from "../new-id.ts";
import type { FreshRuns } from "../run/fresh-runs.ts";
import { placeSecret } from "../secrets/secret-names.ts";
import { type McpServerInput, splitSecrets } from "../secrets/split-secrets.ts";
import { type Job, requestRun } from "../store/jobs.ts";
import { findFirstRun } from "../store/run-store.ts";
import { findSessionByIdempotencyKey, insertNewSession } from "../store/session-store.ts";

/** The validated input of a new session. */
export type NewSession = {
  ownerId: string;
  messages: IncomingMessage[];
  /** SHA-256 (hex) of the request body as canonical JSON. */
  bodyHash: string;
  idempotencyKey: string | null;
  userId: string | null;
  source: Source;
  /**
   * The origin of the first turn: `person` if the session was created on the service's start page, otherwise
   * `external`.
   */
  origin: "person" | "external";
  metadata: Record<string, unknown> | null;
  targetUrl: string | null;
  targetPageUrls: string[];
  outputSchema: Record<string, unknown> | null;
  tools: ToolPolicyRow;
  toolset: string[];
  systemPrompt: string | null;
  skills: SessionSkill[];
  mcpServers: Record<string, McpServerInput>;
  capabilities: CapabilitiesRow;
  subAgents: boolean;
  delegation: DelegationCaps;
  budget: Budget | null;
  interaction: InteractionRow | null;
  callback: { url: string; events: CallbackEvent[]; secret: string | null } | null;
};

type CreatedSession = { sessionId: string; requestId: string; runId: string; shareRevocation: number };

export type CreateResult =
  | ({ status: "created" | "replayed" } & CreatedSession)
  /** The idempotency key was used before with another body. */
  | { status: "reused" };

/**
 * Stores a session, its transcript, its first request and run, and the run's job, in one transaction. Then sends the
 * job to the engine or, if the transaction has already stored the job in the engine's own tables, starts to play it. If
 * the owner has used the idempotency key before, nothing is stored, and the result is that of {@link findReplay}.
 * Source: specification, POST /api/session; `architecture.md`, How a request flows.
 */
export async function createSession(
  deps: { db: Database; sealer: Sealer; jobs: JobSender; freshRuns: FreshRuns },
  input: NewSession,
): Promise<CreateResult> {
  const { db, sealer, jobs, freshRuns } = deps;
  const sessionId = newId("ses");
  const requestId = newId("req");
  const runId = newId("run");
  const job: Job = requestRun({ id: runId, sessionId, generation: 1 });

  await faultPoint("create-begun");
  const { secrets, ...urls } = splitSecrets(input);
  const { messages, delegation, callback, origin, metadata, ...profile } = input;
  const session = {
    ...profile,
    ...delegation,
    id: sessionId,
    parentSessionId: null,
    title: titleOf(messages),
    ...urls,
    callbackEvents: callback?.events ?? null,
    mcpRevisions: {},
    messageSeq: messages.length,
  };
  const planned = jobs.plan(job);
  const rows = toMessageRows(messages, { sessionId, requestId, userId: input.userId, firstSeq: 1 });
  const stored = {
    session: { ...session, metadata, task: searchedTextOf(messages) },
    request: { id: requestId, runId, origin },
    messages: rows,
    secrets: secrets.map(({ name, text }) => ({
      name,
      sealed: sealer.seal(placeSecret(sessionId, name), text),
    })),
    job,
    planned,
  };
  const expected = planned && freshRuns.expect(runId);
  if (planned) jobs.beginEarly(job, planned);
  const createdAt = await insertNewSession(db, stored).catch((error: unknown) => {
    // The statement may have been committed, so the engine looks for the rows later: `settle` is not called.
    expected?.reject(error);
    throw error;
  });
  planned?.settle();
  if (createdAt) {
    await faultPoint("create-job-unsent");
    const fresh = {
      runId,
      requestId,
      origin,
      session: { ...session, ...INITIAL, createdAt, updatedAt: createdAt },
      messages: rows.map((row) => ({ ...row, runId: null, createdAt })),
    };
    if (expected) {
      await faultPoint("job-sent");
      expected.resolve(fresh);
    } else {
      freshRuns.add(fresh);
      jobs.begin(job, undefined);
    }
    await faultPoint("create-committed");
    return { status: "created", sessionId, requestId, runId, shareRevocation: 0 };
  }
  expected?.resolve("absent");
  const replay = await findReplay(db, input);
  if (!replay) throw new Error("the session of an idempotency key was deleted between two statements");
  return replay;
}

/** Initial values of the session columns that the insert does not set. */
const INITIAL = {
  startupStatus: "uninitialized",
  shareRevocation: 0,
  eventSeq: 0,
  queueSeq: 0,
  activeRunId: null,
  spentTokens: 0,
  spentUsd: 0,
  spentMs: 0,
  annotationCount: 0,
  annotationBytes: 0,
  workspaceBytes: 0,
} as const;

/**
 * Finds the session that an earlier request with the same idempotency key created. The status is `replayed` if both
 * requests have the same body, and `reused` if the bodies differ. Returns undefined if the key is new or the request
 * has no key.
 * Source: `wire.md`, POST /api/session.
 */
export async function findReplay(
  db: Database,
  request: Pick<NewSession, "ownerId" | "idempotencyKey" | "bodyHash">,
): Promise<CreateResult | undefined> {
  if (request.idempotencyKey === null) return undefined;
  const session = await findSessionByIdempotencyKey(db, request.ownerId, request.idempotencyKey);
  const first = session && (await findFirstRun(db, session.id));
  if (!first) return undefined;
  if (session.bodyHash !== request.bodyHash) return { status: "reused" };
  return { status: "replayed", sessionId: session.id, ...first, shareRevocation: session.shareRevocation };
}

/** Returns the text of the last user message. */
function taskOf(messages: IncomingMessage[]): string {
  const task = messages.findLast((message) => message.role === "user");
  return task?.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ") ?? "";
}

/** Number of characters of a task that the search of the session list reads. */
const SEARCHED_CHARACTERS = 2_000;

/** Returns the part of the last user message that the session list can be searched for. */
const searchedTextOf = (messages: IncomingMessage[]): string =>
  shorten(taskOf(messages), SEARCHED_CHARACTERS);

/**
 * Returns the first non-blank line of the last user message, cut to 120 characters. Without such a line, returns
 * `Untitled session`.
 */
export function titleOf(messages: IncomingMessage[]): string {
  const line =
    taskOf(messages)
      .split("\n")
      .find((candidate) => candidate.trim() !== "")
      ?.trim() ?? "Untitled session";
  return shorten(line, 120);
}
