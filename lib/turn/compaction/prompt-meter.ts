import type { ModelMessage } from "ai";
import type { ModelTools } from "#lib/model/calls/model-tool.ts";
import {
  addWeights,
  estimateTokens,
  toTokens,
  type Weight,
  weighMessages,
  weighTools,
} from "./estimate-tokens.ts";

/** A prompt as the turn holds it: messages as recorded, before pictures are put in place. */
export type MeteredPrompt = { instructions: string; tools: ModelTools; messages: readonly ModelMessage[] };

/** Counts the tokens of a run's prompts. */
export type PromptMeter = {
  /** Tokens that the prompt takes. */
  count: (prompt: MeteredPrompt) => number;
  /** Takes note of the input tokens that the provider reported for a prompt; 0 is no report. */
  report: (prompt: MeteredPrompt, inputTokens: number) => void;
};

/** Below this part of the estimate a report is not believed: some servers leave out what they had cached. */
const BELIEVED_LEAST = 0.4;
/** What a report may say about text that it has not seen: a short prompt's hidden additions are no measure for it. */
const RATIO_LEAST = 0.5;
const RATIO_MOST = 2;

/** The beginning of a prompt, by its first and last message. */
type Prefix = { first: ModelMessage | undefined; last: ModelMessage | undefined; count: number };

/**
 * Counts prompts by what the provider said of the last one: that number is the truth for the messages it was sent, only
 * those since are looked at, so that a step costs no more in a long history than in a short one. After a compaction
 * everything is estimated, at the ratio of the last report. `picturesShown`: how many pictures of a prompt are sent.
 */
export function createPromptMeter(picturesShown: number): PromptMeter {
  let ratio = 1;
  let reported: (Prefix & { tokens: number }) | undefined;
  let weighed: (Prefix & { weight: Weight }) | undefined;

  const weigh = (messages: readonly ModelMessage[]): Weight => {
    const known = weighed && continues(messages, weighed) ? weighed : undefined;
    const since = addWeights(known ? messages.slice(known.count) : messages);
    const { tokens, pictures } = known?.weight ?? { tokens: 0, pictures: 0 };
    const weight = { tokens: tokens + since.tokens, pictures: pictures + since.pictures };
    weighed = { ...prefixOf(messages), weight };
    return weight;
  };

  return {
    count(prompt) {
      const { messages } = prompt;
      if (reported && continues(messages, reported))
        return Math.ceil(
          reported.tokens + weighMessages(messages.slice(reported.count), picturesShown) * ratio,
        );
      return Math.ceil((weighOverhead(prompt) + toTokens(weigh(messages), picturesShown)) * ratio);
    },
    report(prompt, inputTokens) {
      const { messages } = prompt;
      const estimated = weighOverhead(prompt) + toTokens(weigh(messages), picturesShown);
      if (inputTokens <= 0 || inputTokens < estimated * BELIEVED_LEAST) return;
      ratio = Math.min(RATIO_MOST, Math.max(RATIO_LEAST, inputTokens / estimated));
      reported = { ...prefixOf(messages), tokens: inputTokens };
    },
  };
}

/** Tokens of what goes with every prompt of a run. */
export const weighOverhead = (prompt: Pick<MeteredPrompt, "instructions" | "tools">): number =>
  estimateTokens(prompt.instructions) + weighTools(prompt.tools);

const prefixOf = (messages: readonly ModelMessage[]): Prefix => ({
  first: messages[0],
  last: messages.at(-1),
  count: messages.length,
});

/** Whether messages begin with those of a prefix. */
const continues = (messages: readonly ModelMessage[], { first, last, count }: Prefix): boolean =>
  messages.length >= count && messages[0] === first && messages[count - 1] === last;
