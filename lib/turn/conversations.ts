import type { ModelMessage } from "ai";
import type { Database } from "#db/client.ts";
import { composeHistory } from "./compose-history.ts";
import { readHistory } from "./store.ts";

/**
 * What the model has seen in the sessions that play now. Kept in memory while a run goes on, so that a step does not
 * read the session's past again; read from the rows by whoever comes to a run anew.
 */
export type Conversations = {
  read: (sessionId: string, runId: string) => Promise<ModelMessage[]>;
  /** Adds what a step has just recorded, in the order it was recorded. */
  append: (runId: string, messages: ModelMessage[]) => void;
  forget: (runId: string) => void;
};

/** @see Conversations */
export function createConversations(db: Database): Conversations {
  const known = new Map<string, ModelMessage[]>();
  return {
    async read(sessionId, runId) {
      const cached = known.get(runId);
      if (cached) return cached;
      const history = composeHistory(await readHistory(db, sessionId));
      known.set(runId, history);
      return history;
    },
    append: (runId, messages) => void known.get(runId)?.push(...messages),
    forget: (runId) => void known.delete(runId),
  };
}
