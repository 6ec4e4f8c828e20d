import type { Item } from "./group-messages.ts";

/**
 * Finds the user messages of the running request: those of the request itself, and the messages that have joined its turn.
 * If a request contains a whole transcript, only its last user messages are the task; earlier ones are context. A question
 * that the service itself asked is recorded in one step with its answer and is not a task. `requestFrom`: position of the
 * request's first step.
 * Source: specification, Session creation request, `messages`.
 */
export function findTasks(items: readonly Item[], requestFrom: number): Set<Item> {
  const tasks = new Set<Item>();
  /**
   * The entry that is scanned, from its end. `state`: whether the scan has not reached the last user messages of the entry
   * yet (`before`), is among them (`in`), or has passed them (`after`).
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
