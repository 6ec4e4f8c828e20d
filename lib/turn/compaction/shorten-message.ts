import type { ToolResultPart } from "ai";
import { CALL_TOOL } from "#lib/catalogue/tools.ts";
import { readReference } from "#lib/session/transcript/picture-reference.ts";
import { beginningOf, endOf } from "#lib/text/whole-characters.ts";
import type { HistoryMessage } from "../history/history-entry.ts";
import { readOutput } from "../history/read-output.ts";

/** Results up to this length stay unchanged, because a line in their place would save nothing. */
const KEPT_CHARACTERS = 400;
/** Maximum length of the input of an old call, as JSON. In a longer input, long strings are cut. */
const INPUT_CHARACTERS = 1_000;
const INPUT_STRING_CHARACTERS = 200;
/** The beginning of the line that replaces a result. */
const LEFT_OUT = "[Left out to make room:";
/**
 * A result that begins with `LEFT_OUT` counts as already shortened only up to this length. A longer result was not
 * written by this file.
 */
const LEFT_OUT_CHARACTERS = 4_000;
/** Offset in a result, in characters, at which the search for the note of `cutResult` (`step/result-text.ts`) begins. */
const CUT_FROM = 9_000;
const CUT_NOTE = /of (\d+) characters left out; read on with read_tool_result, resultId (\w+)/;

type ToolMessage = Extract<HistoryMessage, { role: "tool" }>;
type UserMessage = Extract<HistoryMessage, { role: "user" }>;
type AssistantMessage = Extract<HistoryMessage, { role: "assistant" }>;

/**
 * `canReadOn`: whether the session has the tool `read_tool_result`. If so, the lines that replace results mention the
 * tool.
 */
export type Shortening = { canReadOn: boolean };

/**
 * Shortens an old message. A long tool result becomes one line with the tool's name, the size of the result, and how to
 * read the result again. Each picture becomes a line, long inputs of calls are shortened, and reasoning is removed
 * unless the message has nothing else. Texts of users and assistants stay. Returns the same object if there is nothing
 * to shorten, for example because the message was shortened before.
 */
export function offloadMessage(message: HistoryMessage, how: Shortening): HistoryMessage {
  if (message.role === "assistant") return offloadCalls(message);
  if (message.role === "user") return offloadPictures(message);
  return message.role === "tool" ? mapResults(message, (part) => offloadResult(part, message, how)) : message;
}

/**
 * Cuts long results in a tool message to their beginning and end. In an assistant message, shortens the inputs of calls
 * and removes reasoning.
 *
 * @param charactersMax longer results are cut to about 80 % of this length. At least 1,000.
 */
export function cutMessage(message: HistoryMessage, charactersMax: number, how: Shortening): HistoryMessage {
  if (message.role === "assistant") return offloadCalls(message);
  return message.role === "tool"
    ? mapResults(message, (part) => cutPart(part, message, charactersMax, how))
    : message;
}

function mapResults(message: ToolMessage, change: (part: ToolResultPart) => ToolResultPart): HistoryMessage {
  const content = message.content.map((part) => (part.type === "tool-result" ? change(part) : part));
  return content.some((part, index) => part !== message.content[index]) ? { ...message, content } : message;
}

function offloadResult(part: ToolResultPart, message: ToolMessage, how: Shortening): ToolResultPart {
  const { text, pictures, isError } = readOutput(part.output);
  const wasShortened = text.startsWith(LEFT_OUT) && text.length <= LEFT_OUT_CHARACTERS;
  const isShort = text.length <= KEPT_CHARACTERS || wasShortened;
  if (isShort && pictures.length === 0) return part;
  const lines = isShort ? [`${LEFT_OUT} pictures.]`, text] : [describeLeftOut(part, message, text, how)];
  return withText(part, [...lines, ...pictures.map(describePicture)].filter(Boolean).join("\n"), isError);
}

function describeLeftOut(part: ToolResultPart, message: ToolMessage, text: string, how: Shortening): string {
  const cut = readCutNote(text);
  const resultId = message.resultId ?? cut?.resultId;
  const again =
    resultId && how.canReadOn ? `; read_tool_result with resultId ${resultId} shows it again` : "";
  const size = (cut?.characters ?? text.length).toLocaleString("en-US");
  return `${LEFT_OUT} the result of ${beginningOf(part.toolName, 100)}, ${size} characters${again}.]`;
}

function cutPart(
  part: ToolResultPart,
  message: ToolMessage,
  charactersMax: number,
  how: Shortening,
): ToolResultPart {
  const { text, pictures, isError } = readOutput(part.output);
  if (text.length <= charactersMax) return part;
  const head = Math.floor(charactersMax * 0.7);
  const tail = Math.floor(charactersMax * 0.1);
  const resultId = message.resultId ?? readCutNote(text)?.resultId;
  const again =
    resultId && how.canReadOn ? `; read on with read_tool_result, resultId ${resultId}, offset ${head}` : "";
  const note = `[… ${text.length - head - tail} characters left out to make room${again} …]`;
  const shown = `${beginningOf(text, head)}\n\n${note}\n\n${endOf(text, tail)}`;
  return withText(part, [shown, ...pictures.map(describePicture)].join("\n"), isError);
}

/** Replaces the pictures that a caller attached to a message by lines. */
function offloadPictures(message: UserMessage): HistoryMessage {
  if (typeof message.content === "string") return message;
  const content = message.content.map((part) => {
    const picture = part.type === "text" ? readReference(part.text) : undefined;
    return picture ? { type: "text" as const, text: describePicture(picture.id) } : part;
  });
  return content.some((part, index) => part !== message.content[index]) ? { ...message, content } : message;
}

/** Writes the same text that `showPictures` shows in place of an older picture. */
const describePicture = (evidenceId: string | undefined): string =>
  evidenceId ? `[picture ${evidenceId}, not shown again]` : "[picture, not shown again]";

const withText = (part: ToolResultPart, value: string, isError: boolean): ToolResultPart => ({
  ...part,
  output: { type: isError ? "error-text" : "text", value },
});

function readCutNote(text: string): { resultId: string | undefined; characters: number } | undefined {
  const found = CUT_NOTE.exec(text.slice(CUT_FROM, CUT_FROM + KEPT_CHARACTERS));
  return found ? { characters: Number(found[1]), resultId: found[2] } : undefined;
}

function offloadCalls(message: AssistantMessage): HistoryMessage {
  if (typeof message.content === "string") return message;
  const withoutReasoning = message.content.filter((part) => part.type !== "reasoning");
  const content = (withoutReasoning.length > 0 ? withoutReasoning : message.content).map((part) => {
    if (part.type !== "tool-call") return part;
    const input = part.toolName === CALL_TOOL ? shortenInner(part.input) : shortenInput(part.input);
    return input === part.input ? part : { ...part, input };
  });
  const isSame =
    content.length === message.content.length &&
    content.every((part, index) => part === message.content[index]);
  return isSame ? message : { ...message, content };
}

/** Shortens the input of the tool that a call through `call_tool` names. */
function shortenInner(input: unknown): unknown {
  if (typeof input !== "object" || input === null || !("input" in input)) return shortenInput(input);
  const inner = shortenInput(input.input);
  return inner === input.input ? input : { ...input, input: inner };
}

/** Cuts the long strings of a long input. If the input is still too long, replaces it by a note with its size. */
function shortenInput(input: unknown): unknown {
  const characters = JSON.stringify(input)?.length ?? 0;
  if (characters <= INPUT_CHARACTERS) return input;
  const shortened = shortenStrings(input);
  const isShort = (JSON.stringify(shortened)?.length ?? 0) <= INPUT_CHARACTERS;
  // The note is put into an object, because some providers accept only an object as a tool's input.
  return isShort ? shortened : { leftOut: `an input of ${characters} characters, left out to make room` };
}

function shortenStrings(value: unknown): unknown {
  if (typeof value === "string" && value.length > INPUT_STRING_CHARACTERS) {
    const left = value.length - INPUT_STRING_CHARACTERS;
    return `${beginningOf(value, INPUT_STRING_CHARACTERS)} [… ${left} characters left out]`;
  }
  if (Array.isArray(value)) return value.map(shortenStrings);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortenStrings(inner)]));
}
