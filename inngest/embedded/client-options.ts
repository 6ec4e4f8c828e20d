import type { ClientOptions } from "inngest";
import type { Logger } from "#lib/log/logger.ts";

type SdkLogger = NonNullable<ClientOptions["logger"]>;

/**
 * Creates a logger that writes the SDK's log messages, mostly errors that functions throw, to the service's log at one
 * level. The SDK's own logger writes to the console, where secrets are not redacted.
 */
export function createSdkLogger(logger: Logger, level: keyof Logger): SdkLogger {
  const write = (first: unknown, second?: unknown) =>
    typeof first === "object" && first !== null
      ? logger[level](first, String(second ?? ""))
      : logger[level]({}, String(first));
  return { debug: write, info: write, warn: write, error: write };
}

/**
 * The options of an Inngest client for the embedded engine: `new Inngest({ id, ...embeddedClientOptions(…) })`. With
 * `maxRuntime` 0, one call of a function may last until the end of its run.
 *
 * @param bufferedSteps how many steps are recorded together. With 1, each step is recorded before the next one begins.
 * With more, a crash may repeat up to that many steps, and the SDK sends the last steps together with the end of the
 * run.
 */
export function embeddedClientOptions(engine: { fetch: typeof fetch }, logger: Logger, bufferedSteps = 1) {
  // Errors that a function throws are recorded in its run, so the log needs them only at debug level.
  const quiet = createSdkLogger(logger, "debug");
  return {
    isDev: true,
    baseUrl: "http://inngest.embedded",
    fetch: engine.fetch,
    checkpointing: { bufferedSteps, maxRuntime: 0 },
    aiMetadata: false,
    logger: quiet,
    internalLogger: quiet,
  } satisfies Partial<ClientOptions>;
}
