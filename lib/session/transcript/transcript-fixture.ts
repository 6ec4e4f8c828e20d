import type { Database } from "#db/client.ts";
import { type MessagePart, messages, requests, runs, sessions, toolCalls } from "#db/schema/index.ts";
import { sessionRow } from "#db/testing.ts";

/** Inserts a session with one running run, for tests. */
export async function insertTestSession(db: Database, id: string) {
  const now = new Date("2026-01-01T00:00:00.000Z");
  await db.insert(sessions).values(sessionRow({ id }));
  const requestId = `req_${id}`;
  const runId = `run_${id}`;
  const request = { id: requestId, sessionId: id, position: 1, mode: "queue", origin: "person" } as const;
  await db.insert(requests).values({ ...request, bodyHash: "hash" });
  await db
    .insert(runs)
    .values({ id: runId, sessionId: id, requestId, attempt: 1, origin: "person", state: "running" });
  return {
    requestId,
    runId,
    /** Adds a message. `seq` is null for a queued message. */
    addMessage: (messageId: string, seq: number | null, parts: MessagePart[]) =>
      db.insert(messages).values({ id: messageId, sessionId: id, seq, role: "user", parts, createdAt: now }),
    /** Adds a finished tool call. `resultText` is its complete result. */
    addResult: (resultId: string, resultText: string) =>
      db.insert(toolCalls).values({
        runId,
        callId: `call_${resultId}`,
        sessionId: id,
        resultId,
        name: "run_shell",
        input: {},
        state: "succeeded",
        resultText,
        endedAt: now,
      }),
  };
}
