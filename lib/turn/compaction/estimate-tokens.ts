import type { ModelMessage } from "ai";
import type { ModelTool, ModelTools } from "#lib/model/calls/model-tool.ts";
import { readOutput } from "./read-output.ts";

/** UTF-8 bytes to a token: prose has more, markup and JSON fewer, East Asian text about three. */
const BYTES_PER_TOKEN = 3.5;
/** Roles, separators and ids around every message. */
const MESSAGE_TOKENS = 6;
/** A screenshot, as the large providers count it. */
export const PICTURE_TOKENS = 1_200;

/** What messages take of a context: the tokens of their texts, and how many pictures they hold. */
export type Weight = { tokens: number; pictures: number };

/**
 * Tokens of a text, estimated from its bytes. A real tokenizer is megabytes of tables, right for one vendor's models only
 * and a hundred times slower; this one is corrected by what the provider reports (`createPromptMeter`), so that only what
 * came since the last call is ever guessed.
 */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

const weights = new WeakMap<ModelMessage, Weight>();

/** What one message takes. Messages do not change, so each is looked at once. */
export function weighMessage(message: ModelMessage): Weight {
  const known = weights.get(message);
  if (known) return known;
  const weight = measure(message);
  weights.set(message, weight);
  return weight;
}

/** What messages take together. */
export function addWeights(messages: Iterable<ModelMessage>): Weight {
  const sum: Weight = { tokens: 0, pictures: 0 };
  for (const message of messages) {
    const { tokens, pictures } = weighMessage(message);
    sum.tokens += tokens;
    sum.pictures += pictures;
  }
  return sum;
}

/** A weight in tokens, where only the newest `picturesShown` pictures are sent. */
export const toTokens = ({ tokens, pictures }: Weight, picturesShown: number): number =>
  tokens + Math.min(pictures, picturesShown) * PICTURE_TOKENS;

/** Tokens of a list of messages of whose pictures only the newest `picturesShown` are sent. */
export const weighMessages = (messages: Iterable<ModelMessage>, picturesShown: number): number =>
  toTokens(addWeights(messages), picturesShown);

const toolWeights = new WeakMap<ModelTool, number>();

/** Tokens of tool definitions: names, descriptions and input schemas. Each definition is looked at once. */
export function weighTools(tools: ModelTools): number {
  let tokens = 0;
  for (const tool of tools.values()) {
    const known = toolWeights.get(tool) ?? estimateTokens(spell(tool)) + MESSAGE_TOKENS;
    toolWeights.set(tool, known);
    tokens += known;
  }
  return tokens;
}

const spell = ({ definition: { name, description, inputSchema } }: ModelTool): string =>
  JSON.stringify([name, description, inputSchema]);

function measure(message: ModelMessage): Weight {
  const weight: Weight = { tokens: MESSAGE_TOKENS, pictures: 0 };
  if (typeof message.content === "string") {
    weight.tokens += estimateTokens(message.content);
    return weight;
  }
  for (const part of message.content) {
    if (part.type === "text" || part.type === "reasoning") weight.tokens += estimateTokens(part.text);
    else if (part.type === "tool-call")
      weight.tokens += estimateTokens(part.toolName) + estimateTokens(JSON.stringify(part.input) ?? "");
    else if (part.type === "tool-result") {
      const { text, pictures } = readOutput(part.output);
      weight.tokens += MESSAGE_TOKENS + estimateTokens(text);
      weight.pictures += pictures.length;
    } else if (part.type === "image" || part.type === "file") weight.pictures += 1;
  }
  return weight;
}

/** A text of at most so many estimated tokens; what is over them is cut off at the end, and said to be. */
export function cutToTokens(text: string, tokensMax: number): string {
  const tokens = estimateTokens(text);
  if (tokens <= tokensMax) return text;
  const note = " […]";
  const kept = Math.max(0, Math.floor((text.length * tokensMax) / tokens) - note.length * 2);
  // Bytes are not spread evenly over a text: shorten until it fits.
  let cut = text.slice(0, kept);
  while (cut.length > 0 && estimateTokens(cut + note) > tokensMax)
    cut = cut.slice(0, Math.floor(cut.length * 0.9));
  return cut.toWellFormed() + note;
}
