import { SUMMARY_REQUEST } from "#lib/turn/compaction/summary-prompt.ts";
import { readTags } from "../world/tag.ts";

/** What a prompt holds, as far as promises are made about it. */
export type PromptFacts = {
  /** Whether the model is asked to sum up a conversation rather than to go on with it. */
  isSummary: boolean;
  /** Whether the task is that of a sub-agent, which has no tag. */
  isSubAgent: boolean;
  /** The sessions' messages in it, by nonce, each as often as it stands there. */
  tags: string[];
  /** Ids of calls without a result, and of results without a call. */
  unpaired: string[];
  /** Ids of calls of which it is said that nobody knows what came of them. */
  unknown: string[];
};

type Item = { type?: unknown; call_id?: unknown; output?: unknown };

/** Reads a prompt of the Responses wire. */
export function readPrompt(text: string, input: unknown): PromptFacts {
  const items = (Array.isArray(input) ? input : []) as Item[];
  const idsOf = (type: string, isMeant = (_item: Item) => true) =>
    items.flatMap((item) =>
      item.type === type && typeof item.call_id === "string" && isMeant(item) ? [item.call_id] : [],
    );
  const calls = idsOf("function_call");
  const results = idsOf("function_call_output");
  return {
    isSubAgent: /CHILD \w+/.test(text) && readTags(text).length === 0,
    isSummary: text.includes(SUMMARY_REQUEST),
    tags: readTags(text).map(({ nonce }) => nonce),
    unpaired: [
      ...calls.filter((id) => results.filter((result) => result === id).length !== 1),
      ...results.filter((id) => !calls.includes(id)),
    ],
    unknown: idsOf("function_call_output", ({ output }) => /outcome unknown/i.test(JSON.stringify(output))),
  };
}
