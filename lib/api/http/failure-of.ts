import { findUnavailability, type Unavailability } from "#db/unavailability.ts";
import { type Failure, fail } from "./errors.ts";

/**
 * For each reason why the database is unavailable: the error message, and the seconds after which a client may try
 * again.
 */
const UNAVAILABLE: Record<Unavailability, { error: string; retryAfterSeconds: number }> = {
  "out of reach": { error: "the database is out of reach; try again", retryAfterSeconds: 1 },
  "disk full": { error: "the disk is full, so that nothing can be stored", retryAfterSeconds: 30 },
  "read-only": { error: "the database is read-only at the moment; try again", retryAfterSeconds: 5 },
  overloaded: { error: "the database is overloaded; try again", retryAfterSeconds: 2 },
};

/** Returns the log field that marks a failure of the database, so that an outage is logged once. */
export const componentOf = (error: unknown): { component?: "database" } =>
  findUnavailability(error) ? { component: "database" } : {};

/** Returns the refusal for an unexpected error: 503 if the database is unavailable, otherwise 500 without any detail. */
export function failureOf(error: unknown): Failure {
  const reason = findUnavailability(error);
  if (!reason) return fail("internal", "something went wrong on our side; the service's log has the reason");
  const { error: sentence, retryAfterSeconds } = UNAVAILABLE[reason];
  return fail("unavailable", sentence, { "Retry-After": String(retryAfterSeconds) });
}
