import type { LogFn, Logger } from "pino";
import { isQueryError } from "#db/query-error.ts";
import { findUnavailability, type Unavailability } from "#db/unavailability.ts";

/** How often the database is asked during an outage, and how long no statement may fail before the outage is over. */
const PROBE_MS = 1_000;
const QUIET_MS = 10_000;
const WARN_LEVEL = 40;

type Outage = {
  since: number;
  failedAt: number;
  reasons: Set<Unavailability>;
  failures: number;
  refusedRequests: number;
  timer: NodeJS.Timeout;
};

/** What a line of the log says about a failure. `component` is set if the error itself does not show what failed. */
type Fields = { err?: unknown; component?: unknown; path?: unknown };

/** Logs an outage of the database once, instead of a line with a stack for each request and each regular work. */
export type OutageLog = {
  /** Hook of pino. Logs a line, unless it reports a failure of the database that an earlier line has reported. */
  logMethod: (this: Logger, args: Parameters<LogFn>, method: LogFn, level: number) => void;
  /** Sets the function that checks whether the database is available. Until then, an outage does not end. */
  follow: (isAvailable: () => Promise<boolean>) => void;
};

/** @param now a monotonic clock, in milliseconds. */
export function createOutageLog(now = () => performance.now()): OutageLog {
  let outage: Outage | undefined;
  let isAvailable = async () => false;

  function begin(logger: Logger): Outage {
    const timer = setInterval(() => void endIfOver(logger), PROBE_MS).unref();
    const at = now();
    return { since: at, failedAt: at, reasons: new Set(), failures: 0, refusedRequests: 0, timer };
  }
  async function endIfOver(logger: Logger): Promise<void> {
    const current = outage;
    const isQuiet = () => current !== undefined && now() - current.failedAt >= QUIET_MS;
    if (!current || !isQuiet() || !(await isAvailable())) return;
    // During the check, another check may have ended the outage, or a further statement may have failed.
    if (outage !== current || !isQuiet()) return;
    const { since, failedAt, failures, refusedRequests, timer } = current;
    clearInterval(timer);
    outage = undefined;
    const seconds = Math.round((failedAt - since) / 1_000);
    logger.warn({ seconds, failures, refusedRequests }, "the database is available again");
  }

  return {
    logMethod(args, method, level) {
      const [fields, message] = args as [Fields, string];
      const reason = level >= WARN_LEVEL ? findReason(fields) : undefined;
      if (reason === undefined) return method.apply(this, args);
      outage ??= begin(this);
      outage.failedAt = now();
      outage.failures += 1;
      if (fields.path !== undefined) outage.refusedRequests += 1;
      if (outage.reasons.has(reason)) return;
      outage.reasons.add(reason);
      method.apply(this, [
        { ...fields, reason, failed: message },
        "the database is not available; further failures are counted until it is available again",
      ] as unknown as Parameters<LogFn>);
    },
    follow(check) {
      isAvailable = check;
    },
  };
}

function findReason(fields: unknown): Unavailability | undefined {
  if (typeof fields !== "object" || fields === null || !("err" in fields)) return undefined;
  const { err, component }: Fields = fields;
  return component === "database" || isQueryError(err) ? findUnavailability(err) : undefined;
}
