import { readReference } from "#lib/session/transcript/picture-reference.ts";
import { beginningOf, endOf } from "#lib/text/whole-characters.ts";
import { estimateTokens } from "../history/estimate-tokens.ts";
import type { HistoryMessage } from "../history/history-entry.ts";
import { readOutput } from "../history/read-output.ts";

/**
 * Maximum lengths of a piece (a text, call or result), in characters. They are tried in this order, until the
 * transcript fits one chunk.
 */
const PIECE_CHARACTERS = [4_000, 1_500, 500];
/**
 * Maximum number of chunks, each of which is summarized in one model call. The middle of a longer transcript is left
 * out.
 */
const CHUNKS_MOST = 8;
const CHUNKS_AT_START = 2;

/**
 * Writes messages as text for the summarizing model, in chunks of about `chunkTokens` at most. Text is used because a
 * prompt with tool calls would need the definitions of these tools. Long pieces are cut, so that one chunk is usually
 * enough.
 */
export function writeTranscript(messages: readonly HistoryMessage[], chunkTokens: number): string[] {
  // Two ASCII characters are estimated as less than one token, so a piece of `most` ASCII characters fits into a chunk.
  // Other characters take more bytes, so a piece that contains them can exceed a small chunk.
  const most = Math.max(200, chunkTokens * 2);
  let chunks: string[] = [];
  for (const characters of PIECE_CHARACTERS) {
    const pieces = messages.flatMap((message) => writeMessage(message, Math.min(characters, most)));
    chunks = joinPieces(pieces, chunkTokens);
    if (chunks.length === 1) return chunks;
  }
  if (chunks.length <= CHUNKS_MOST) return chunks;
  const left = chunks.length - CHUNKS_MOST;
  return [
    ...chunks.slice(0, CHUNKS_AT_START),
    `[A part about ${left} times as long as this section was left out here.]\n\n${chunks[CHUNKS_AT_START + left]}`,
    ...chunks.slice(CHUNKS_AT_START + left + 1),
  ];
}

function joinPieces(pieces: string[], chunkTokens: number): string[] {
  const chunks: string[] = [];
  let current: string[] = [];
  let tokens = 0;
  for (const piece of pieces) {
    const size = estimateTokens(piece) + 1;
    if (current.length > 0 && tokens + size > chunkTokens) {
      chunks.push(current.join("\n\n"));
      [current, tokens] = [[], 0];
    }
    current.push(piece);
    tokens += size;
  }
  return current.length > 0 ? [...chunks, current.join("\n\n")] : chunks;
}

/** Writes the pieces of one message, each labelled with its role or tool. */
function writeMessage(message: HistoryMessage, most: number): string[] {
  if (typeof message.content === "string") return [`[${message.role}] ${cutText(message.content, most)}`];
  return message.content.flatMap((part): string[] => {
    switch (part.type) {
      case "text": {
        const picture = readReference(part.text);
        if (picture && message.role === "user") return [`[picture ${picture.id} of the user]`];
        return part.text.trim() === "" ? [] : [`[${message.role}] ${cutText(part.text, most)}`];
      }
      case "tool-call":
        return [`[call of ${part.toolName}] ${cutText(JSON.stringify(part.input) ?? "", most)}`];
      case "tool-result":
        return [writeResult(part, message.resultId, most)];
      default:
        return [];
    }
  });
}

function writeResult(
  part: { toolName: string; output: Parameters<typeof readOutput>[0] },
  resultId: string | undefined,
  most: number,
): string {
  const { text, pictures, isError } = readOutput(part.output);
  const named = pictures.filter((evidenceId) => evidenceId !== undefined);
  const about = [
    resultId && `resultId ${resultId}`,
    isError && "failed",
    ...named.map((id) => `picture ${id}`),
  ];
  const notes = about.filter(Boolean).map((note) => `, ${note}`);
  return `[result of ${part.toolName}${notes.join("")}] ${cutText(text, most)}`;
}

/** Cuts a text to its beginning and its end, about `most` characters together. */
function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const [head, tail] = [Math.floor(most * 0.7), Math.floor(most * 0.25)];
  return `${beginningOf(text, head)} [… ${text.length - head - tail} characters …] ${endOf(text, tail)}`;
}
