import type { HistoryMessage } from "../history/history-entry.ts";

/** The beginning of messages that the service adds for the model. The instructions explain it to the model. */
export const ADDED = "[Added by the service]";

/** Creates a message that the service adds for the model, in the role of the user. */
export const addedMessage = (text: string): HistoryMessage => ({
  role: "user",
  content: `${ADDED} ${text}`,
  isAdded: true,
});
