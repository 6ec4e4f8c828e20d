import type { Logger } from "#lib/log/logger.ts";

/** How many unhandled rejections are logged per minute. A page or a caller may cause them in a loop. */
const LOGGED_PER_MINUTE = 20;

/**
 * Decides what happens with errors that nothing has handled.
 *
 * - An exception that was not caught ends the process with status 1, because code was interrupted at an unknown point
 *   and its state may be wrong. Nothing stored is lost; runs continue after the restart.
 * - A promise rejection that was not handled is logged. It interrupts no code but the one that has ended with it.
 *
 * Errors in the listeners of a browser never get here: they end that browser (`listener-guard.ts`).
 *
 * @param exit ends the process. Called after the error was logged.
 */
export function handleProcessErrors(
  logger: Pick<Logger, "error">,
  exit: (code: number) => void = (code) => process.exit(code),
): void {
  const onRejection = createRejectionLog(logger);
  process.on("unhandledRejection", onRejection);
  process.on("uncaughtException", (error) => {
    logger.error({ err: error }, "an exception was not caught; the process ends");
    exit(1);
  });
}

/** Logs rejections, at most `LOGGED_PER_MINUTE`. The first one of the next minute says how many were left out. */
export function createRejectionLog(
  logger: Pick<Logger, "error">,
  nowMs: () => number = () => performance.now(),
): (error: unknown) => void {
  let minuteStartMs = Number.NEGATIVE_INFINITY;
  let count = 0;
  return (error) => {
    const now = nowMs();
    if (now - minuteStartMs >= 60_000) {
      const leftOut = Math.max(0, count - LOGGED_PER_MINUTE);
      if (leftOut > 0) logger.error({ leftOut }, "promise rejections of the last minutes were not logged");
      minuteStartMs = now;
      count = 0;
    }
    count += 1;
    if (count <= LOGGED_PER_MINUTE) logger.error({ err: error }, "a promise rejection was not handled");
  };
}
