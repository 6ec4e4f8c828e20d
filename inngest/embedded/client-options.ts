import type { ClientOptions } from "inngest";
import type { Logger } from "#lib/log/logger.ts";

type SdkLogger = NonNullable<ClientOptions["logger"]>;

/**
 * What the SDK logs, which is whatever a function throws, in our own log, at one level: without it the SDK writes to
 * the console, past the redaction of secrets.
 */
export function createSdkLogger(logger: Logger, level: keyof Logger): SdkLogger {
  const write = (first: unknown, second?: unknown) =>
    typeof first === "object" && first !== null
      ? logger[level](first, String(second ?? ""))
      : logger[level]({}, String(first));
  return { debug: write, info: write, warn: write, error: write };
}

/**
 * What an Inngest client needs to speak with the embedded engine: `new Inngest({ id, ...embeddedClientOptions(…) })`.
 * A call may last as long as its run.
 *
 * @param bufferedSteps how many steps are recorded at a time: with 1 each is recorded before the next begins, with
 * more a crash may repeat that many, and the last ones cost nothing beside the end of their run.
 */
export function embeddedClientOptions(engine: { fetch: typeof fetch }, logger: Logger, bufferedSteps = 1) {
  // What a function throws is told by its run.
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
