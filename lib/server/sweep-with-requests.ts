import type { Logger } from "#lib/log/logger.ts";
import { waitUntil } from "./wait-until.ts";

/**
 * Creates a function to be called with every request, for platforms without a process of ours. It does the work in the
 * background of a request, at most once per interval in each instance. So jobs are sent, and the functions are
 * registered again, even if the cron of the engine is lost.
 */
export function createRequestSweep(deps: {
  everyMs: number;
  work: () => Promise<void>;
  logger: Pick<Logger, "warn">;
  nowMs?: () => number;
}): () => void {
  const { everyMs, work, logger, nowMs = () => performance.now() } = deps;
  let dueAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    const now = nowMs();
    if (now < dueAtMs) return;
    dueAtMs = now + everyMs;
    waitUntil(
      work().catch((error: unknown) => logger.warn({ err: error }, "sweeping jobs during a request failed")),
    );
  };
}
