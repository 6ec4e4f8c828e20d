import type { Transaction } from "#db/client.ts";
import type { MessagePart } from "#db/schema/index.ts";
import type { TranscriptMessage } from "#lib/events/event.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { nextMessageSeq } from "#lib/session/store.ts";
import type { Claim } from "./claim.ts";
import { aboutRun } from "./open-run.ts";
import { insertMessage } from "./store.ts";

/** Adds a message of the agent to the transcript, and emits it as `message.completed`. */
export async function addAssistantMessage(
  tx: Transaction,
  emit: Emit,
  claim: Claim,
  { id, parts }: { id: string; parts: MessagePart[] },
): Promise<void> {
  const { sessionId, requestId, runId } = claim;
  const createdAt = new Date();
  const seq = await nextMessageSeq(tx, sessionId);
  const row = { id, seq, role: "assistant", parts, requestId, runId } as const;
  await insertMessage(tx, { ...row, sessionId, createdAt });
  const message: TranscriptMessage = { ...row, author: null, createdAt: createdAt.toISOString() };
  emit({ kind: "message.completed", ...aboutRun(claim), message });
}
