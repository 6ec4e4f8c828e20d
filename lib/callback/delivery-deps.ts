import type { Database } from "#db/client.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { GuardedPost } from "#lib/net/fetch/guarded-post.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import type { AnswerLinks } from "#lib/session/inbox/answer-link.ts";
import type { EndpointPace } from "./endpoint/endpoint-pace.ts";
import type { HttpRefusal } from "./endpoint/refuse-http.ts";
import type { RetrySchedule } from "./retry-schedule.ts";

export type DeliveryDeps = {
  db: Database;
  post: GuardedPost;
  sealer: Sealer;
  /** Derives the links to items. If omitted, callbacks have no links. */
  answers?: Pick<AnswerLinks, "urlOf">;
  schedule: RetrySchedule;
  logger: Pick<Logger, "info" | "warn">;
  /** Limits the rate of attempts at each host. If omitted, the rate is unlimited. */
  pace?: EndpointPace;
  /** Refuses callback URLs whose scheme is not allowed. If omitted, every scheme is accepted. */
  refuseHttp?: HttpRefusal;
  /**
   * An endpoint (all callbacks of an owner to one host) is disabled when all its callbacks have failed for this many
   * milliseconds and at least three deliveries were dropped. Deliveries to a disabled endpoint are held. With the
   * default 0, no endpoint is treated as disabled.
   */
  disableAfterMs?: number;
  /** Returns the current time; tests set it. By default, a monotonic clock continues from the database's time. */
  clock?: () => Date;
  /** Deadline of a whole exchange. Default: the specification's 10 seconds. */
  timeoutMs?: number;
  /** Aborted when the service shuts down. The interrupted attempt then throws and does not count. */
  signal?: AbortSignal;
};
