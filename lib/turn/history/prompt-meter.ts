import type { ModelMessage } from "ai";
import type { ModelTools } from "#lib/model/calls/model-tool.ts";
import {
  addWeights,
  estimateMessageTokens,
  estimateTokens,
  estimateTools,
  type TokenEstimate,
  toTokens,
} from "./estimate-tokens.ts";

/** A prompt with messages as they are recorded, before `showPictures` inserts the pictures. */
export type MeteredPrompt = { instructions: string; tools: ModelTools; messages: readonly ModelMessage[] };

/** Counts the tokens of a run's prompts. */
export type PromptMeter = {
  /** Returns the tokens of a prompt. Uses the provider's last count where possible, and estimates the rest. */
  count: (prompt: MeteredPrompt) => number;
  /** Stores the input tokens that the provider reported for a prompt; 0 means that the provider reported none. */
  report: (prompt: MeteredPrompt, inputTokens: number) => void;
};

/** A report below this share of the estimate is ignored, because some servers do not count cached tokens. */
const CREDIBLE_SHARE_LEAST = 0.4;
/**
 * Bounds of the ratio by which estimates are multiplied. Without them, the tokens that a provider adds to a short
 * prompt would distort the estimates of long texts.
 */
const RATIO_LEAST = 0.5;
const RATIO_MOST = 2;

/** The first `count` messages of a prompt. Their first and last message identify them. */
type Prefix = { first: ModelMessage | undefined; last: ModelMessage | undefined; count: number };

/**
 * Creates a meter. It starts from the provider's count of the last prompt and estimates only the messages that were
 * added later, so that a step costs no more in a long history than in a short one. After a compaction, it estimates the
 * whole prompt and multiplies the result by the last ratio of reported to estimated tokens.
 *
 * @param picturesShown the maximum number of pictures that are sent with a prompt.
 */
export function createPromptMeter(picturesShown: number): PromptMeter {
  let ratio = 1;
  let reported: (Prefix & { tokens: number }) | undefined;
  let weighed: (Prefix & { weight: TokenEstimate }) | undefined;

  const estimate = (messages: readonly ModelMessage[]): TokenEstimate => {
    const cached = weighed && continues(messages, weighed) ? weighed : undefined;
    const added = addWeights(cached ? messages.slice(cached.count) : messages);
    const { tokens, pictures } = cached?.weight ?? { tokens: 0, pictures: 0 };
    const weight = { tokens: tokens + added.tokens, pictures: pictures + added.pictures };
    weighed = { ...prefixOf(messages), weight };
    return weight;
  };

  return {
    count(prompt) {
      const { messages } = prompt;
      if (reported && continues(messages, reported))
        return Math.ceil(
          reported.tokens + estimateMessageTokens(messages.slice(reported.count), picturesShown) * ratio,
        );
      return Math.ceil((estimateOverhead(prompt) + toTokens(estimate(messages), picturesShown)) * ratio);
    },
    report(prompt, inputTokens) {
      const { messages } = prompt;
      const estimated = estimateOverhead(prompt) + toTokens(estimate(messages), picturesShown);
      if (inputTokens <= 0 || inputTokens < estimated * CREDIBLE_SHARE_LEAST) return;
      ratio = Math.min(RATIO_MOST, Math.max(RATIO_LEAST, inputTokens / estimated));
      reported = { ...prefixOf(messages), tokens: inputTokens };
    },
  };
}

/** Returns the tokens of the instructions and tool definitions, which are part of every prompt of a run. */
export const estimateOverhead = (prompt: Pick<MeteredPrompt, "instructions" | "tools">): number =>
  estimateTokens(prompt.instructions) + estimateTools(prompt.tools);

const prefixOf = (messages: readonly ModelMessage[]): Prefix => ({
  first: messages[0],
  last: messages.at(-1),
  count: messages.length,
});

/** Whether a list of messages begins with the messages of a prefix. */
const continues = (messages: readonly ModelMessage[], { first, last, count }: Prefix): boolean =>
  messages.length >= count && messages[0] === first && messages[count - 1] === last;
