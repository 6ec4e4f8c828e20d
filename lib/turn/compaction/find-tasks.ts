import type { Item } from "./group-messages.ts";

/**
 * The user messages that the running request brought: its own and the steers read so far. Of a transcript that came in one
 * piece only its last user messages are the task; what stood before them was said before. What the service itself asked
 * stands in one step with its answer, and is none. `requestFrom`: position of the request's first step.
 * Source: specification, Session creation request, `messages`.
 */
export function findTasks(items: readonly Item[], requestFrom: number): Set<Item> {
  const tasks = new Set<Item>();
  /** The entry whose last user messages are being passed, from the end to the beginning. */
  let passing: { position: number; state: "before" | "in" | "after" } | undefined;
  for (const item of items.toReversed()) {
    const { message, position } = item;
    if (message.role === "user" && message.position !== undefined) {
      if (message.position >= requestFrom) tasks.add(item);
      continue;
    }
    if (position < requestFrom) break;
    if (passing?.position !== position) passing = { position, state: "before" };
    const isUser = message.role === "user" && !message.isSummary && !message.isAdded;
    if (isUser && passing.state !== "after") {
      passing.state = "in";
      tasks.add(item);
    } else if (!isUser && (passing.state === "in" || position !== requestFrom)) passing.state = "after";
  }
  return tasks;
}
