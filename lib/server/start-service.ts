import { createServer } from "node:http";
import { performance } from "node:perf_hooks";
import { armFaults } from "#lib/faults/fault-point.ts";
import { closeInheritedDescriptors } from "#lib/isolation/inherited-descriptors.ts";
import { printBanner } from "./banner.ts";
import { createHostCheck } from "./check-host.ts";
import { createContainer } from "./container.ts";
import { createHttpServer } from "./create-http-server.ts";
import { createPages } from "./create-pages.ts";
import { EnvError, readEnv } from "./env.ts";
import { createLogger } from "./log.ts";
import { handleProcessErrors } from "./process-errors.ts";
import { addressOf, createRequestListener } from "./request-listener.ts";
import { keepMemoryTrimmed } from "./trim-memory.ts";
import { createUpgradeHandler } from "./upgrade.ts";

const NODE_VERSION_MIN = 24;
const CLOSE_DEADLINE_MS = 15_000;

/**
 * Starts the service: its parts, the HTTP server with WebSocket upgrades, and the engine. The pages are loaded with the
 * first request for a page; in development, at the start. SIGTERM, SIGINT and the end of the parent process shut the
 * service down in an orderly way.
 *
 * @param onAnswering called when the HTTP API answers and everything except the pages is loaded.
 * @throws EnvError for an invalid setting, Error with a readable message for a part that cannot be created.
 */
export async function startService({ onAnswering }: { onAnswering: () => void }): Promise<void> {
  if (Number(process.versions.node.split(".")[0]) < NODE_VERSION_MIN)
    throw new EnvError(`Node ${NODE_VERSION_MIN} or newer is needed; this is ${process.version}`);
  const env = readEnv(process.env);
  armFaults(env.FAULT);
  const logger = createLogger(env.LOG_LEVEL);
  handleProcessErrors(logger);
  // Do this first: processes that are started later would inherit the descriptors.
  const descriptors = closeInheritedDescriptors();
  if (descriptors.length > 0) logger.info({ descriptors }, "closed inherited file descriptors");
  const isDev = env.NODE_ENV === "development";

  const hub = createServer();
  const pages = createPages(env, hub);
  const container = await createContainer(env, logger);
  pages.check();
  Object.assign(globalThis, { [Symbol.for("agent-session-service")]: container.mounted });

  const { handleRequest, drain } = createRequestListener({
    container,
    env,
    handle(request, response) {
      // Start a spare browser, because the visitor of a page may start a session next.
      container.services.browser.warmUp();
      return pages.handle(request, response);
    },
    isDev,
    logger,
  });
  const server = createHttpServer(handleRequest);
  const checkHost = createHostCheck(env);
  const { openLive } = container.mounted;
  server.on(
    "upgrade",
    createUpgradeHandler({
      openLive,
      handleRequest,
      baseUrl: env.baseUrl,
      isDev,
      hub,
      checkHost,
      addressOf: (request) => addressOf(request, env),
    }),
  );

  let isClosing = false;
  const close = async (reason: string) => {
    if (isClosing) return;
    isClosing = true;
    logger.info({ reason }, "the service began to shut down");
    setTimeout(() => process.exit(1), CLOSE_DEADLINE_MS).unref();
    server.close();
    try {
      await drain();
      await container.close();
      server.closeAllConnections();
      await pages.close();
      process.exit(0);
    } catch (error) {
      logger.error({ err: error }, "the service did not shut down cleanly");
      process.exit(1);
    }
  };
  process.on("SIGTERM", () => close("SIGTERM"));
  process.on("SIGINT", () => close("SIGINT"));
  process.on("disconnect", () => close("the parent process has ended"));

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(env.PORT, env.HOST, resolve);
  });
  await container.start();
  onAnswering();
  try {
    // Next's development server handles its own sockets, so it must be loaded before a page connects to them.
    if (isDev) await pages.open();
  } catch (error) {
    if (!isClosing) throw error;
  }
  if (isClosing) return;
  printBanner({ env, container, readyMs: performance.now() });
  keepMemoryTrimmed();
}
