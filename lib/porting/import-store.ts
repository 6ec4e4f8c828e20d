import { and, asc, desc, eq, gt, inArray, lt, or, sql, sum } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { lockOwner } from "#db/lock-owner.ts";
import { importedMessages, imports, sessions, toolCalls } from "#db/schema/index.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";
import type { ExportedMessage, ExportedToolResult } from "./format.ts";

export type ImportRow = typeof imports.$inferSelect;
/** A row of the table of imported messages. */
export type ImportedMessageRow = typeof importedMessages.$inferSelect;

const ROWS_PER_INSERT = 500;

/** Stores an import and its messages. */
export async function insertImport(
  tx: Transaction,
  row: Omit<ImportRow, "createdAt">,
  messages: ExportedMessage[],
): Promise<ImportRow> {
  const [stored] = await tx.insert(imports).values(row).returning();
  if (!stored) throw new Error("the import was not stored");
  for (let from = 0; from < messages.length; from += ROWS_PER_INSERT)
    await tx.insert(importedMessages).values(
      messages.slice(from, from + ROWS_PER_INSERT).map((message, index) => ({
        importId: row.id,
        position: from + index + 1,
        originalId: message.id,
        role: message.role,
        // The cast is safe: `readSessionExport` validated the parts against their schemas.
        parts: message.parts as ImportedMessageRow["parts"],
        results: message.results,
        writtenAt: new Date(message.createdAt),
      })),
    );
  return stored;
}

/** Finds an earlier import of the same document, or the import that an earlier attempt of the same call stored. */
export async function findEarlierImport(
  db: Executor,
  sessionId: string,
  { documentId, runId, callId }: { documentId: string; runId: string | null; callId: string | null },
): Promise<ImportRow | undefined> {
  const isOfCall =
    runId === null || callId === null ? undefined : and(eq(imports.runId, runId), eq(imports.callId, callId));
  const [row] = await db
    .select()
    .from(imports)
    .where(and(eq(imports.sessionId, sessionId), or(eq(imports.documentId, documentId), isOfCall)))
    .orderBy(asc(imports.createdAt))
    .limit(1);
  return row;
}

/** Finds an import by its id. Returns undefined if the session has no import with this id. */
export async function findImport(
  db: Executor,
  sessionId: string,
  importId: string,
): Promise<ImportRow | undefined> {
  const [row] = await db
    .select()
    .from(imports)
    .where(and(eq(imports.sessionId, sessionId), eq(imports.id, importId)));
  return row;
}

/** Lists the imports of a session, newest first. `before` is the last import of the previous page. */
export function listImports(
  db: Executor,
  sessionId: string,
  { before, limit }: { before?: { createdAt: Date; id: string }; limit: number },
): Promise<ImportRow[]> {
  return db
    .select()
    .from(imports)
    .where(
      and(
        eq(imports.sessionId, sessionId),
        before &&
          or(
            lt(imports.createdAt, before.createdAt),
            and(eq(imports.createdAt, before.createdAt), lt(imports.id, before.id)),
          ),
      ),
    )
    .orderBy(desc(imports.createdAt), desc(imports.id))
    .limit(limit);
}

/**
 * Counts the imports of a session, and the bytes that the session and its owner have imported. Locks the owner's
 * imports until the transaction ends.
 */
export async function measureImports(
  tx: Transaction,
  { id, ownerId }: Pick<SessionRow, "id" | "ownerId">,
): Promise<{ count: number; sessionBytes: number; ownerBytes: number }> {
  await lockOwner(tx, "imports", ownerId);
  const isOfSession = eq(imports.sessionId, id);
  const [row] = await tx
    .select({
      count: sql<number>`count(*) filter (where ${isOfSession})`.mapWith(Number),
      sessionBytes: sql<number>`sum(${imports.sizeBytes}) filter (where ${isOfSession})`.mapWith(Number),
      ownerBytes: sum(imports.sizeBytes).mapWith(Number),
    })
    .from(imports)
    .innerJoin(sessions, eq(sessions.id, imports.sessionId))
    .where(eq(sessions.ownerId, ownerId));
  return { count: row?.count ?? 0, sessionBytes: row?.sessionBytes ?? 0, ownerBytes: row?.ownerBytes ?? 0 };
}

/** Lists the messages of an import after the position `after`, in order. */
export function listImportedMessages(
  db: Executor,
  importId: string,
  { after, limit }: { after: number; limit: number },
): Promise<ImportedMessageRow[]> {
  return db
    .select()
    .from(importedMessages)
    .where(and(eq(importedMessages.importId, importId), gt(importedMessages.position, after)))
    .orderBy(asc(importedMessages.position))
    .limit(limit);
}

/** Maximum length of an exported tool result, in characters. */
const RESULT_CHARACTERS_MAX = 2_000;

/**
 * Reads the results of tool calls. Each key of the map is a run id and a call id, separated by a space. The database
 * itself cuts long texts, so the service never loads them in full.
 */
export async function listResults(
  db: Executor,
  calls: { runId: string; callId: string }[],
): Promise<Map<string, ExportedToolResult>> {
  if (calls.length === 0) return new Map();
  const text = sql`coalesce(${toolCalls.resultText}, '')`;
  const rows = await db
    .select({
      runId: toolCalls.runId,
      toolCallId: toolCalls.callId,
      toolName: toolCalls.name,
      state: toolCalls.state,
      refusal: toolCalls.refusal,
      text: sql<string>`left(${text}, ${RESULT_CHARACTERS_MAX})`,
      isCut: sql<boolean>`char_length(${text}) > ${RESULT_CHARACTERS_MAX}`,
    })
    .from(toolCalls)
    .where(
      and(
        inArray(toolCalls.runId, [...new Set(calls.map(({ runId }) => runId))]),
        inArray(toolCalls.callId, [...new Set(calls.map(({ callId }) => callId))]),
      ),
    );
  return new Map(
    rows.map(({ runId, refusal, ...result }) => [
      `${runId} ${result.toolCallId}`,
      { ...result, ...(refusal !== null && { refusal }) },
    ]),
  );
}
