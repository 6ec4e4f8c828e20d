import type { ModelMessage } from "ai";
import type { HistoryMessage } from "../history/history-entry.ts";
import { addedMessage } from "./added-message.ts";

const TEXT =
  "The message above is your own, from before this turn. Do what the last message of the user asks.";

/**
 * Adds a user message if the messages for the model would otherwise end with a message of the assistant. Providers
 * continue such a message as if the model had begun it (a prefill), or refuse it. The messages of a request or a steer
 * can end so; the history of a retry ends so if the attempt before failed after the model's answer.
 *
 * @param messages the messages that a step records.
 * @param before the messages that come before them.
 */
export function endWithUser(
  messages: readonly HistoryMessage[],
  before: readonly ModelMessage[] = [],
): HistoryMessage[] {
  const last = messages.at(-1) ?? before.at(-1);
  return last?.role === "assistant" ? [...messages, addedMessage(TEXT)] : [...messages];
}
