import { isConnectionLost } from "#db/is-connection-lost.ts";
import { type Failure, fail } from "./errors.ts";

const RETRY_AFTER_SECONDS = 1;

/** What the caller is told of a throw: that the database is away for now, or nothing but that the fault is ours. */
export const failureOf = (error: unknown): Failure =>
  isConnectionLost(error)
    ? fail("unavailable", "the database is out of reach; try again", {
        "Retry-After": String(RETRY_AFTER_SECONDS),
      })
    : fail("internal", "something went wrong on our side; the service's log has the reason");
