import { index, integer, json, pgTable, primaryKey, text, unique } from "drizzle-orm/pg-core";
import { createdAt, instant, oneOf } from "./columns.ts";
import { sessions } from "./sessions.ts";
import type { MessagePart } from "./transcript.ts";
import {
  IMPORT_FORMATS,
  type ImportFormat,
  MESSAGE_ROLES,
  type MessageRole,
  type ToolCallState,
  VARIANT_AUTHORS,
  type VariantAuthor,
} from "./unions.ts";

/** A variant that an import created. `from` is the variant's key in the document. */
type ImportedVariantRow = { from: string; key: string; revision: number };
/** A field that was left out when a document was imported, and the reason. */
type LeftOutRow = { field: string; reason: string };
/** The beginning of a tool call's result, as an export contains it. */
type ImportedResultRow = {
  toolCallId: string;
  toolName: string;
  state: ToolCallState;
  text: string;
  isCut: boolean;
};

/** A document that was imported into a session. */
export const imports = pgTable(
  "imports",
  {
    id: text("id").primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    /**
     * The document's own id, or a hash of the document if it has no id. Unique in the session, so that a document is
     * imported only once.
     */
    documentId: text("document_id").notNull(),
    format: text("format").$type<ImportFormat>().notNull(),
    /**
     * `title`, `sourceSessionId` and `exportedAt` describe the exported session and the time of the export. They are
     * null for documents of other tools.
     */
    title: text("title"),
    sourceSessionId: text("source_session_id"),
    exportedAt: instant("exported_at"),
    author: text("author").$type<VariantAuthor>().notNull(),
    /**
     * `runId` and `callId` identify the tool call that imported the document. If the call is executed again after a
     * crash, it finds its import by them. Null for an import by a person.
     */
    runId: text("run_id"),
    callId: text("call_id"),
    variants: json("variants").$type<ImportedVariantRow[]>().notNull(),
    messageCount: integer("message_count").notNull(),
    planItemCount: integer("plan_item_count").notNull().default(0),
    requirementCount: integer("requirement_count").notNull().default(0),
    leftOut: json("left_out").$type<LeftOutRow[]>().notNull(),
    /**
     * Size of the imported content as JSON, in bytes. The size counts towards the limits of the session and of the
     * owner.
     */
    sizeBytes: integer("size_bytes").notNull().default(0),
    createdAt: createdAt(),
  },
  (table) => [
    unique("imports_document").on(table.sessionId, table.documentId),
    unique("imports_call").on(table.runId, table.callId),
    index("imports_session").on(table.sessionId, table.createdAt, table.id),
    oneOf("imports_format", table.format, IMPORT_FORMATS),
    oneOf("imports_author", table.author, VARIANT_AUTHORS),
  ],
);

/** A message of an imported conversation. It is not part of the session's transcript. */
export const importedMessages = pgTable(
  "imported_messages",
  {
    importId: text("import_id")
      .notNull()
      .references(() => imports.id, { onDelete: "cascade" }),
    /** Order of the message within the import, from 1. */
    position: integer("position").notNull(),
    /** The message's id in the exported session. */
    originalId: text("original_id").notNull(),
    role: text("role").$type<MessageRole>().notNull(),
    parts: json("parts").$type<MessagePart[]>().notNull(),
    results: json("results").$type<ImportedResultRow[]>().notNull(),
    author: text("author"),
    /** When the message was written in the exported session. */
    writtenAt: instant("written_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.importId, table.position] }),
    oneOf("imported_messages_role", table.role, MESSAGE_ROLES),
  ],
);
