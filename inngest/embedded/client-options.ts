import type { ClientOptions } from "inngest";
import type { EngineLogger } from "./logger.ts";

type SdkLogger = NonNullable<ClientOptions["logger"]>;

/** The SDK logs whatever a function throws; here that is told by the run itself, so it all goes to debug. */
function createQuietLogger(logger: EngineLogger): SdkLogger {
  const write = (first: unknown, second?: unknown) =>
    typeof first === "object" && first !== null
      ? logger.debug(first, String(second ?? ""))
      : logger.debug({}, String(first));
  return { debug: write, info: write, warn: write, error: write };
}

/**
 * What an Inngest client needs to speak with the embedded engine: `new Inngest({ id, ...embeddedClientOptions(…) })`.
 * Every step is checkpointed by itself (durable) and a call may last as long as its run.
 */
export function embeddedClientOptions(engine: { fetch: typeof fetch }, logger: EngineLogger) {
  const quiet = createQuietLogger(logger);
  return {
    isDev: true,
    baseUrl: "http://inngest.embedded",
    fetch: engine.fetch,
    checkpointing: { bufferedSteps: 1, maxRuntime: 0 },
    aiMetadata: false,
    logger: quiet,
    internalLogger: quiet,
  } satisfies Partial<ClientOptions>;
}
