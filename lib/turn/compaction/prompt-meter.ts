import type { ModelMessage, ToolSet } from "ai";
import { estimateTokens, weighMessages, weighTools } from "./estimate-tokens.ts";

/** A prompt as the turn holds it: messages as recorded, before pictures are put in place. */
export type MeteredPrompt = { instructions: string; tools: ToolSet; messages: readonly ModelMessage[] };

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

type Reported = {
  first: ModelMessage | undefined;
  last: ModelMessage | undefined;
  count: number;
  tokens: number;
};

/**
 * Counts prompts by what the provider said of the last one: that number is the truth for the messages it was sent, only
 * those since are estimated, so that a step costs no more in a long history than in a short one. After a compaction
 * everything is estimated, at the ratio of the last report. `picturesShown`: how many pictures of a prompt are sent.
 */
export function createPromptMeter(picturesShown: number): PromptMeter {
  let ratio = 1;
  let reported: Reported | undefined;
  const estimate = ({ instructions, tools, messages }: MeteredPrompt) =>
    weighOverhead({ instructions, tools }) + weighMessages(messages, picturesShown);

  return {
    count(prompt) {
      if (!reported || !continues(prompt.messages, reported)) return Math.ceil(estimate(prompt) * ratio);
      const since = prompt.messages.slice(reported.count);
      return Math.ceil(reported.tokens + weighMessages(since, picturesShown) * ratio);
    },
    report(prompt, inputTokens) {
      const estimated = estimate(prompt);
      if (inputTokens <= 0 || inputTokens < estimated * BELIEVED_LEAST) return;
      const { messages } = prompt;
      ratio = Math.min(RATIO_MOST, Math.max(RATIO_LEAST, inputTokens / estimated));
      reported = { first: messages[0], last: messages.at(-1), count: messages.length, tokens: inputTokens };
    },
  };
}

/** Tokens of what goes with every prompt of a run. */
export const weighOverhead = (prompt: Pick<MeteredPrompt, "instructions" | "tools">): number =>
  estimateTokens(prompt.instructions) + weighTools(prompt.tools);

/** Whether a prompt begins with the one that was reported. */
const continues = (messages: readonly ModelMessage[], { first, last, count }: Reported): boolean =>
  messages.length >= count && messages[0] === first && messages[count - 1] === last;
