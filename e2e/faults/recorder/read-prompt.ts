import { SUMMARY_REQUEST } from "#lib/turn/compaction/summary-prompt.ts";
import { readTags } from "../world/tag.ts";

/** What the invariants need to know about a prompt. */
export type PromptFacts = {
  /** Whether the prompt asks for a summary of the conversation, not for the next message. */
  isSummary: boolean;
  /** Whether the prompt belongs to a sub-agent. The task of a sub-agent has no tag. */
  isSubAgent: boolean;
  /** The nonces in the tags of the prompt's messages, one for each occurrence. */
  tags: string[];
  /** Ids of calls that do not have exactly one result, and of results without a call. */
  unpaired: string[];
  /** Ids of calls whose result says that the outcome is unknown. */
  unknown: string[];
};

type Item = { type?: unknown; call_id?: unknown; output?: unknown };

/**
 * Reads the facts about a request of the Responses API. `text` is the text of the whole request, `input` the request's
 * field `input`.
 */
export function readPrompt(text: string, input: unknown): PromptFacts {
  const items = (Array.isArray(input) ? input : []) as Item[];
  const idsOf = (type: string, isIncluded = (_item: Item) => true) =>
    items.flatMap((item) =>
      item.type === type && typeof item.call_id === "string" && isIncluded(item) ? [item.call_id] : [],
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
