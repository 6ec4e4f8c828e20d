import type { TranscriptMessage } from "#lib/events/event.ts";

/** A tool result kept whole, as `read_tool_result` pages through it. */
export type ToolResultPage = { resultId: string; toolName: string; state: string; text: string; offset: number; totalCharacters: number };

/** Read access to what a session has said and done so far. */
export type TranscriptReader = {
  /** Messages in order with `seq > after`, at most `limit`. */
  list: (sessionId: string, query: { after: number; limit: number }) => Promise<TranscriptMessage[]>;
  read: (sessionId: string, messageId: string) => Promise<TranscriptMessage | undefined>;
  /** Messages whose text holds `text`, case-insensitively, newest first. */
  search: (sessionId: string, text: string, limit: number) => Promise<{ message: TranscriptMessage; excerpt: string }[]>;
  /** A piece of a kept tool result, or undefined where the session has none of that id. */
  readToolResult: (sessionId: string, resultId: string, range: { offset: number; limit: number }) => Promise<ToolResultPage | undefined>;
};
