import type { Database } from "#db/client.ts";
import type { TranscriptMessage } from "#lib/events/event.ts";
import { oneLine } from "#lib/text/one-line.ts";
import { startOfCharacter } from "#lib/text/whole-characters.ts";
import {
  findImportedMessage,
  type ImportedMessage,
  searchImportedMessages,
} from "../store/imported-messages-store.ts";
import {
  findMessage,
  findResultPage,
  listMessages,
  searchMessages,
  type ToolResultPage,
  toTranscriptMessage,
} from "../store/transcript-store.ts";

/** Read access to the messages and tool results of a session. */
export type TranscriptReader = {
  /** Lists at most `limit` messages with `seq > after`, in the order of `seq`. */
  list: (sessionId: string, query: { after: number; limit: number }) => Promise<TranscriptMessage[]>;
  read: (sessionId: string, messageId: string) => Promise<TranscriptMessage | undefined>;
  /** Finds messages that contain `text`, case-insensitively, newest first. */
  search: (
    sessionId: string,
    text: string,
    limit: number,
  ) => Promise<{ message: TranscriptMessage; excerpt: string }[]>;
  /** Finds a message of an imported conversation by `<import id>/<position>`. */
  readImported: (sessionId: string, id: string) => Promise<ImportedMessage | undefined>;
  /**
   * Finds messages of imported conversations that contain `text`, case-insensitively. The newest import comes first,
   * and within an import the last message.
   */
  searchImported: (
    sessionId: string,
    text: string,
    limit: number,
  ) => Promise<(Pick<ImportedMessage, "id" | "role" | "createdAt"> & { excerpt: string })[]>;
  /** Reads a part of a stored tool result; undefined if the session has no result with this id. */
  readToolResult: (
    sessionId: string,
    resultId: string,
    range: { offset: number; limit: number },
  ) => Promise<ToolResultPage | undefined>;
};

/** Creates a reader of the transcript. Queued messages are not part of the transcript. */
export function createTranscriptReader(options: { db: Database }): TranscriptReader {
  const { db } = options;
  return {
    async list(sessionId, query) {
      const rows = await listMessages(db, sessionId, query);
      return rows.map((row) => toTranscriptMessage(row, row.seq));
    },
    async read(sessionId, messageId) {
      const row = await findMessage(db, sessionId, messageId);
      return row && toTranscriptMessage(row, row.seq);
    },
    async search(sessionId, text, limit) {
      if (text === "") return [];
      const rows = await searchMessages(db, sessionId, text, limit);
      return rows.map((row) => {
        const message = toTranscriptMessage(row, row.seq);
        return { message, excerpt: excerptAround(textOf(message), text) };
      });
    },
    readImported: (sessionId, id) => findImportedMessage(db, sessionId, id),
    async searchImported(sessionId, text, limit) {
      if (text === "") return [];
      const hits = await searchImportedMessages(db, sessionId, text, limit);
      return hits.map(({ piece, ...message }) => ({ ...message, excerpt: excerptAround(piece, text) }));
    },
    readToolResult: (sessionId, resultId, range) => findResultPage(db, sessionId, resultId, range),
  };
}

/** Returns the text parts of a message, separated by blank lines. */
export function textOf(message: Pick<TranscriptMessage, "parts">): string {
  return message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
}

const EXCERPT_CHARACTERS_BEFORE = 80;
const EXCERPT_CHARACTERS_MAX = 240;

/**
 * Returns the text around the first occurrence of `needle`, on one line, with ellipses where the text is cut. If the
 * text does not contain `needle`, returns its beginning.
 */
export function excerptAround(text: string, needle: string): string {
  const at = Math.max(text.toLowerCase().indexOf(needle.toLowerCase()), 0);
  const start = startOfCharacter(text, Math.max(at - EXCERPT_CHARACTERS_BEFORE, 0));
  const end = startOfCharacter(text, Math.min(start + EXCERPT_CHARACTERS_MAX, text.length));
  const piece = oneLine(text.slice(start, end));
  return `${start > 0 ? "…" : ""}${piece}${end < text.length ? "…" : ""}`;
}
