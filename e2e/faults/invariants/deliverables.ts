import { type Schema, Validator } from "@cfworker/json-schema";
import type { Invariant } from "../world/evidence.ts";

/**
 * I7: a deliverable with the status `ready` fits its schema. This is checked with a second validator, which the service
 * does not use. Every run that started in a session with a schema has a deliverable that is not pending, or
 * has none because it was retried.
 */
export const readyIsValid: Invariant = {
  id: "I7",
  promise: "ready is valid by a second validator too",
  findViolations({ rows }) {
    const wrong: string[] = [];
    const schemas = new Map(rows.sessions.map((session) => [session.id, session.outputSchema]));
    for (const { runId, sessionId, status, value } of rows.deliverables) {
      const schema = schemas.get(sessionId);
      if (status === "pending") wrong.push(`the deliverable of ${runId} is still pending`);
      if (!schema) wrong.push(`the deliverable of ${runId} belongs to a session without a schema`);
      if (status !== "ready" || !schema) continue;
      const { valid, errors } = new Validator(schema as Schema, "2020-12", false).validate(value);
      if (!valid) wrong.push(`the deliverable of ${runId} is ready and invalid: ${errors[0]?.error}`);
    }
    for (const run of rows.runs) {
      if (!schemas.get(run.sessionId) || run.startedAt === null) continue;
      const hasDeliverable = rows.deliverables.some((one) => one.runId === run.id);
      if (hasDeliverable && run.willRetry) wrong.push(`${run.id} has a deliverable and is retried`);
      if (!hasDeliverable && !run.willRetry) wrong.push(`${run.id} has no deliverable`);
    }
    return wrong;
  },
};
