import { and, desc, eq, gt, sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { importedMessages, imports, type MessagePart } from "#db/schema/index.ts";
import type { MessageRole } from "#db/schema/unions.ts";

/** A message of a conversation that was imported into a session. Its id is `<import id>/<position>`. */
export type ImportedMessage = { id: string; role: MessageRole; parts: MessagePart[]; createdAt: string };

/** A conversation that was imported into a session. */
export type ImportedConversation = { importId: string; messageCount: number };

/** Lists at most `limit` conversations that were imported into a session, newest first. */
export function listImportedConversations(
  db: Database,
  sessionId: string,
  limit: number,
): Promise<ImportedConversation[]> {
  return db
    .select({ importId: imports.id, messageCount: imports.messageCount })
    .from(imports)
    .where(and(eq(imports.sessionId, sessionId), gt(imports.messageCount, 0)))
    .orderBy(desc(imports.createdAt), desc(imports.id))
    .limit(limit);
}

const columns = {
  importId: importedMessages.importId,
  position: importedMessages.position,
  role: importedMessages.role,
  parts: importedMessages.parts,
  writtenAt: importedMessages.writtenAt,
};

type Row = { importId: string; position: number; role: MessageRole; parts: MessagePart[]; writtenAt: Date };

const toMessage = ({ importId, position, role, parts, writtenAt }: Row): ImportedMessage => ({
  id: `${importId}/${position}`,
  role,
  parts,
  createdAt: writtenAt.toISOString(),
});

/** Finds an imported message by its id; undefined if the session has no such imported message. */
export async function findImportedMessage(
  db: Database,
  sessionId: string,
  id: string,
): Promise<ImportedMessage | undefined> {
  const [, importId, position] = /^(imp_\w{1,40})\/([1-9]\d{0,8})$/.exec(id) ?? [];
  if (importId === undefined) return undefined;
  const [row] = await db
    .select(columns)
    .from(importedMessages)
    .innerJoin(imports, eq(imports.id, importedMessages.importId))
    .where(
      and(
        eq(imports.sessionId, sessionId),
        eq(importedMessages.importId, importId),
        eq(importedMessages.position, Number(position)),
      ),
    );
  return row && toMessage(row);
}

/** An imported message that contains the searched text. */
type ImportedHit = Pick<ImportedMessage, "id" | "role" | "createdAt"> & {
  /** The text around the first match, because the whole text may be megabytes long. */
  piece: string;
};

const PIECE_BEFORE = 400;
const PIECE_CHARACTERS = 1_200;

/**
 * Finds imported messages that contain `text`, case-insensitively. The newest import comes first, and within an import
 * the last message.
 */
export async function searchImportedMessages(
  db: Database,
  sessionId: string,
  text: string,
  limit: number,
): Promise<ImportedHit[]> {
  const { importId, position, role, parts, writtenAt } = importedMessages;
  const messageText = sql<string>`(
    select string_agg(part->>'text', ${"\n\n"}) from json_array_elements(${parts}) as part
    where part->>'type' = 'text'
  )`;
  const at = sql`position(lower(${text}::text) in lower(${messageText}))`;
  const rows = await db
    .select({
      importId,
      position,
      role,
      writtenAt,
      piece: sql<string>`substr(${messageText}, greatest(${at} - ${PIECE_BEFORE}::int, 1), ${PIECE_CHARACTERS}::int)`,
    })
    .from(importedMessages)
    .innerJoin(imports, eq(imports.id, importedMessages.importId))
    .where(and(eq(imports.sessionId, sessionId), sql`${at} > 0`))
    .orderBy(desc(imports.createdAt), desc(importedMessages.position))
    .limit(limit);
  return rows.map((row) => ({
    id: `${row.importId}/${row.position}`,
    role: row.role,
    createdAt: row.writtenAt.toISOString(),
    piece: row.piece,
  }));
}
