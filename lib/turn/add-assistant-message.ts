import type { Transaction } from "#db/client.ts";
import type { MessagePart } from "#db/schema/index.ts";
import type { TranscriptMessage } from "#lib/events/event.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { aboutRun } from "./about-run.ts";
import type { Claim } from "./claim.ts";
import { appendMessage } from "./store.ts";

/** Adds a message of the agent to the transcript, and emits it as `message.completed`. */
export async function addAssistantMessage(
  tx: Transaction,
  emit: Emit,
  claim: Claim,
  { id, parts }: { id: string; parts: MessagePart[] },
): Promise<void> {
  const { sessionId, requestId, runId } = claim;
  const createdAt = new Date();
  const row = { id, role: "assistant", parts, requestId, runId } as const;
  const seq = await appendMessage(tx, { ...row, sessionId, createdAt });
  const message: TranscriptMessage = { ...row, seq, author: null, createdAt: createdAt.toISOString() };
  emit({ kind: "message.completed", ...aboutRun(claim), message });
}
