import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { CallRefusal } from "#db/schema/unions.ts";
import { storable, storableText } from "#db/storable.ts";
import type { EvidencePointer } from "#lib/events/event.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import { newId } from "#lib/session/new-id.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { REFUSAL_META } from "./mcp-tool.ts";
import { EVIDENCE_META, INTERRUPTED_META } from "./session-tool.ts";

const PREVIEW_MAX = 2_000;

/**
 * Runs a call of another agent and records it as `tool.call` and `tool.result` events. The call belongs to no turn, so
 * the events have no request, run or message. Only a preview of the result is stored.
 */
export async function recordCall(
  log: EventLog,
  session: Pick<SessionRow, "id" | "source">,
  { callId: toolCallId, toolName, input }: { callId: string; toolName: string; input: unknown },
  work: () => Promise<CallToolResult>,
): Promise<CallToolResult> {
  const about = { requestId: null, runId: null, source: session.source, toolCallId, toolName };
  const startedAt = performance.now();
  await log.transact(session.id, async (_tx, emit) =>
    emit({ kind: "tool.call", ...about, messageId: null, input: storable(input ?? {}) }),
  );
  const result = await work();
  const texts = result.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  // The cast is safe: only `toMcpTool` sets this field, always to evidence pointers.
  const evidence = (result._meta?.[EVIDENCE_META] ?? []) as EvidencePointer[];
  // The cast is safe: only `toMcpTool` sets this field, always to the name of a person.
  const interruptedBy = result._meta?.[INTERRUPTED_META] as string | undefined;
  // The cast is safe: only `mcpRefusal` sets this field.
  const refusal = result._meta?.[REFUSAL_META] as CallRefusal | undefined;
  await log.transact(session.id, async (_tx, emit) =>
    emit({
      kind: "tool.result",
      ...about,
      resultId: newId("res"),
      evidence,
      state: interruptedBy !== undefined ? "interrupted" : result.isError ? "failed" : "succeeded",
      ...(interruptedBy !== undefined && { interruptedBy }),
      ...(refusal !== undefined && { refusal }),
      preview: beginningOf(storableText(texts.join("\n\n")), PREVIEW_MAX),
      durationMs: Math.round(performance.now() - startedAt),
    }),
  );
  return result;
}
