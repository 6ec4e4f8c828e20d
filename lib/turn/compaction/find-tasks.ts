import type { Item } from "./group-messages.ts";

/**
 * Finds the task: the user messages of the running request, and the messages that joined its turn. If the request
 * contains a whole transcript, only the last user messages of the transcript are the task; earlier messages are
 * context. The service also asks the model questions as user messages. Such a question is recorded in the same step as
 * the model's answer, and is not part of the task.
 * Source: specification, Session creation request, `messages`.
 *
 * @param requestFrom the position of the first step of the request.
 */
export function findTasks(items: readonly Item[], requestFrom: number): Set<Item> {
  const tasks = new Set<Item>();
  /**
   * The entry whose messages are scanned, from the last to the first. `state` says whether the scan is still before the
   * last user messages of the entry (`before`), among them (`in`), or past them (`after`).
   */
  let scan: { position: number; state: "before" | "in" | "after" } | undefined;
  for (const item of items.toReversed()) {
    const { message, position } = item;
    if (message.role === "user" && message.position !== undefined) {
      if (message.position >= requestFrom) tasks.add(item);
      continue;
    }
    if (position < requestFrom) break;
    if (scan?.position !== position) scan = { position, state: "before" };
    const isUser = message.role === "user" && !message.isSummary && !message.isAdded;
    if (isUser && scan.state !== "after") {
      scan.state = "in";
      tasks.add(item);
    } else if (!isUser && (scan.state === "in" || position !== requestFrom)) scan.state = "after";
  }
  return tasks;
}
