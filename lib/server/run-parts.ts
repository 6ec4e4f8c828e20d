import type { Logger } from "pino";

/** Regular work, by a name for the log. */
export type Parts = Record<string, () => Promise<unknown>>;

/**
 * Runs all parts, one after the other, even if some of them fail. Logs each failure.
 *
 * @throws Error after the last part, if parts have failed.
 */
export async function runParts(logger: Pick<Logger, "warn">, parts: Parts): Promise<void> {
  const failed: string[] = [];
  for (const [part, work] of Object.entries(parts)) {
    try {
      await work();
    } catch (error) {
      logger.warn({ err: error, part }, "a part of the regular work failed; it will be repeated");
      failed.push(part);
    }
  }
  if (failed.length > 0) throw new Error(`These parts of the regular work failed: ${failed.join(", ")}.`);
}
