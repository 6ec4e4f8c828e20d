import { randomUUID } from "node:crypto";
import type { Database } from "#db/client.ts";
import { sessions } from "#db/schema/index.ts";
import type { MessageDelta, NewEvent, StoredEvent } from "./event.ts";

/** Inserts a session to which a test can append events. @returns the session's id. */
export async function insertBareSession(db: Database): Promise<string> {
  const id = `ses_${randomUUID()}`;
  await db.insert(sessions).values({
    id,
    ownerId: "owner",
    title: "A session",
    source: "api",
    bodyHash: "hash",
    subAgents: false,
    targetPageUrls: [],
    toolset: [],
    mcpServers: {},
    maxLiveChildren: 4,
    maxLiveBrowsers: 4,
    tools: { include: [], exclude: [], externalTurnExclude: [] },
    capabilities: { browser: true, sandbox: true },
  });
  return id;
}

/** Creates a sample event that can be recognized by its `text`. */
export const anyEvent = (text: string): NewEvent => ({
  kind: "browser.status",
  requestId: null,
  runId: null,
  source: "api",
  status: "ready",
  desiredUrl: text,
  lastNavigatedUrl: null,
  currentUrl: null,
  lastError: null,
});

/** Returns the text with which {@link anyEvent} created the event. */
export const textOf = (event: StoredEvent): string => JSON.parse(event.body).desiredUrl;

/** Creates a chunk of a message. */
export const pieceOf = (sessionId: string, offset: number, text: string): MessageDelta => ({
  kind: "message.delta",
  timestamp: "2026-01-01T00:00:00.000Z",
  sessionId,
  requestId: "req_1",
  runId: "run_1",
  source: "api",
  messageId: "msg_1",
  part: "text",
  attempt: 1,
  offset,
  text,
});

/** Waits until a condition is true. @throws after 60 seconds. */
export async function waitUntil(condition: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + 60_000; !condition(); ) {
    if (Date.now() > end) throw new Error(`timed out before ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
