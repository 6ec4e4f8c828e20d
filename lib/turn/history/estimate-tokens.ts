import type { ModelMessage } from "ai";
import { listSent, type ModelTool, type ModelTools } from "#lib/model/calls/model-tool.ts";
import { readReference } from "#lib/session/transcript/picture-reference.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { readOutput } from "./read-output.ts";

/**
 * UTF-8 bytes per token, on average. Prose has more, markup and JSON have fewer, and East Asian text has about three.
 */
const BYTES_PER_TOKEN = 3.5;
/** Tokens of the role, separators and ids around every message. */
const MESSAGE_TOKENS = 6;
/** Tokens of a screenshot, as the large providers count it. */
export const PICTURE_TOKENS = 1_200;

/** The size of messages: the tokens of their texts, and the number of their pictures. */
export type TokenEstimate = { tokens: number; pictures: number };

/**
 * Estimates the tokens of a text from its bytes. A real tokenizer is not used, because it needs megabytes of tables,
 * fits the models of one vendor only, and is a hundred times slower. `createPromptMeter` corrects the estimate with the
 * token counts that the provider reports, so that only messages since the last call are estimated.
 */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

const weights = new WeakMap<ModelMessage, TokenEstimate>();

/** Returns the weight of one message. Messages do not change, so each weight is computed once and cached. */
export function estimateMessage(message: ModelMessage): TokenEstimate {
  const cached = weights.get(message);
  if (cached) return cached;
  const weight = measure(message);
  weights.set(message, weight);
  return weight;
}

/** Adds up the weights of messages. */
export function addWeights(messages: Iterable<ModelMessage>): TokenEstimate {
  const sum: TokenEstimate = { tokens: 0, pictures: 0 };
  for (const message of messages) {
    const { tokens, pictures } = estimateMessage(message);
    sum.tokens += tokens;
    sum.pictures += pictures;
  }
  return sum;
}

/** Converts a weight to tokens. Only the newest `picturesShown` pictures count, because older ones are not sent. */
export const toTokens = ({ tokens, pictures }: TokenEstimate, picturesShown: number): number =>
  tokens + Math.min(pictures, picturesShown) * PICTURE_TOKENS;

/** Estimates how many tokens the messages take. Only the newest `picturesShown` pictures count, because older ones are not sent. */
export const estimateMessageTokens = (messages: Iterable<ModelMessage>, picturesShown: number): number =>
  toTokens(addWeights(messages), picturesShown);

const toolWeights = new WeakMap<ModelTool, number>();

/**
 * Returns the tokens of tool definitions: names, descriptions and input schemas. The tokens of each definition are
 * cached.
 */
export function estimateTools(tools: ModelTools): number {
  let tokens = 0;
  for (const tool of listSent(tools)) {
    const weight = toolWeights.get(tool) ?? estimateTokens(serialize(tool)) + MESSAGE_TOKENS;
    toolWeights.set(tool, weight);
    tokens += weight;
  }
  return tokens;
}

const serialize = ({ definition: { name, description, inputSchema } }: ModelTool): string =>
  JSON.stringify([name, description, inputSchema]);

function measure(message: ModelMessage): TokenEstimate {
  const weight: TokenEstimate = { tokens: MESSAGE_TOKENS, pictures: 0 };
  if (typeof message.content === "string") {
    weight.tokens += estimateTokens(message.content);
    return weight;
  }
  for (const part of message.content) {
    if (part.type === "text" && message.role === "user" && readReference(part.text)) weight.pictures += 1;
    else if (part.type === "text" || part.type === "reasoning") weight.tokens += estimateTokens(part.text);
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

/** Cuts a text to at most `tokensMax` estimated tokens. A text that was cut ends with ` […]`. */
export function cutToTokens(text: string, tokensMax: number): string {
  const tokens = estimateTokens(text);
  if (tokens <= tokensMax) return text;
  const note = " […]";
  const length = Math.max(0, Math.floor((text.length * tokensMax) / tokens) - note.length * 2);
  // Characters differ in their number of bytes, so the first cut may still be too long.
  let cut = beginningOf(text, length);
  while (cut.length > 0 && estimateTokens(cut + note) > tokensMax)
    cut = beginningOf(cut, Math.floor(cut.length * 0.9));
  return cut + note;
}
