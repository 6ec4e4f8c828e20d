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
import { addressOf, createRequestListener } from "./request-listener.ts";
import { keepMemoryTrimmed } from "./trim-memory.ts";
import { createUpgradeHandler } from "./upgrade.ts";

const NODE_LEAST = 24;
const CLOSE_DEADLINE_MS = 15_000;

/**
 * Starts the service: container, HTTP with WebSocket upgrades, and engine. The pages are loaded with the first request for
 * one; in development, at the start. SIGTERM, SIGINT and the end of the parent process shut the service down in order.
 *
 * @param onAnswering called when everything but the pages is loaded, and the HTTP interface answers.
 * @throws EnvError for a setting that cannot be, Error with a sentence for a part that cannot be had.
 */
export async function startService({ onAnswering }: { onAnswering: () => void }): Promise<void> {
  if (Number(process.versions.node.split(".")[0]) < NODE_LEAST)
    throw new EnvError(`Node ${NODE_LEAST} or newer is needed; this is ${process.version}`);
  const env = readEnv(process.env);
  armFaults(env.FAULT);
  const logger = createLogger(env.LOG_LEVEL);
  // Before anything is started that would inherit them.
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
      // Whoever looks at a page may start a session next.
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
    logger.info({ reason }, "shutting down");
    setTimeout(() => process.exit(1), CLOSE_DEADLINE_MS).unref();
    server.close();
    try {
      await drain();
      await container.close();
      server.closeAllConnections();
      await pages.close();
      process.exit(0);
    } catch (error) {
      logger.error({ err: error }, "the service could not end in order");
      process.exit(1);
    }
  };
  process.on("SIGTERM", () => close("SIGTERM"));
  process.on("SIGINT", () => close("SIGINT"));
  process.on("disconnect", () => close("the process that started this one has gone"));
  process.on("unhandledRejection", (error) => logger.error({ err: error }, "an unhandled rejection"));

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(env.PORT, env.HOST, resolve);
  });
  await container.start();
  onAnswering();
  try {
    // The sockets of the development server are its own, so it has to be there before a page asks for them.
    if (isDev) await pages.open();
  } catch (error) {
    if (!isClosing) throw error;
  }
  if (isClosing) return;
  printBanner({ env, container, readyMs: performance.now() });
  keepMemoryTrimmed();
}
