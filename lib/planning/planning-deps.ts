import type { Database } from "#db/client.ts";
import type { EventLog } from "#lib/events/event-log.ts";

/** The dependencies of plans and requirements. The container creates them once. */
export type PlanningDeps = {
  db: Database;
  log: EventLog;
  /**
   * Returns why a selector is invalid or too costly for the page. Returns undefined if the selector can be used.
   * Implemented in `lib/variant`.
   */
  findSelectorProblem: (selector: string) => string | undefined;
};
