import type { Database } from "#db/client.ts";
import type { EventLog } from "#lib/events/event-log.ts";

/** What plans and requirements are stored with; made once by the container. */
export type PlanningDeps = {
  db: Database;
  log: EventLog;
  /** Says why a selector is impossible or would cost the page too much; undefined if neither. Part of `lib/variant`. */
  findSelectorProblem: (selector: string) => string | undefined;
};
