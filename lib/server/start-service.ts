import { createServer } from "node:http";
import { constants } from "node:os";
import { performance } from "node:perf_hooks";
import { armFaults } from "#lib/faults/fault-point.ts";
import { closeInheritedDescriptors } from "#lib/isolation/inherited-descriptors.ts";
import { printBanner } from "./banner.ts";
import { createHostCheck } from "./check-host.ts";
import { addressOf } from "./client-connection.ts";
import { createContainer } from "./container.ts";
import { createHttpServer } from "./create-http-server.ts";
import { createPages } from "./create-pages.ts";
import { EnvError, readEnv } from "./env.ts";
import { createLogger } from "./log.ts";
import { createOutageLog } from "./outage-log.ts";
import { handleProcessErrors } from "./process-errors.ts";
import { createRequestListener, refuseWhileStopping } from "./request-listener.ts";
import { createShutdown } from "./shut-down.ts";
import { trimMemoryRegularly } from "./trim-memory.ts";
import { createUpgradeHandler } from "./upgrade.ts";

const NODE_VERSION_MIN = 24;

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
  const outages = createOutageLog();
  const logger = createLogger(env.LOG_LEVEL, undefined, outages);
  handleProcessErrors(logger);
  // Do this first: processes that are started later would inherit the descriptors.
  const descriptors = closeInheritedDescriptors();
  if (descriptors.length > 0) logger.info({ descriptors }, "closed inherited file descriptors");
  const isDev = env.NODE_ENV === "development";

  const hub = createServer();
  const pages = createPages(env, hub);
  const container = await createContainer(env, logger);
  outages.follow(container.isDatabaseAvailable);
  pages.check();
  Object.assign(globalThis, { [Symbol.for("agent-session-service")]: container.mounted });

  const listener = createRequestListener({
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
  const server = createHttpServer(listener.handleRequest);
  const checkHost = createHostCheck(env);
  let shutdown: ReturnType<typeof createShutdown> | undefined;
  server.on(
    "upgrade",
    createUpgradeHandler({
      upgradeToWebSocket: (...args) =>
        shutdown?.isClosing()
          ? Promise.resolve(refuseWhileStopping())
          : container.mounted.upgradeToWebSocket(...args),
      handleRequest: listener.handleRequest,
      baseUrl: env.baseUrl,
      isDev,
      hub,
      relayToHost: container.relayToHost,
      checkHost,
      addressOf: (request) => addressOf(request, env),
    }),
  );

  shutdown = createShutdown({ listener, container, server, pages, logger, graceMs: env.SHUTDOWN_GRACE_MS });
  const { begin, isClosing } = shutdown;
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.on(signal, () => begin(signal, 128 + constants.signals[signal]));
  process.on("disconnect", () => begin("the parent process has ended", 1));

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
    if (!isClosing()) throw error;
  }
  if (isClosing()) return;
  printBanner({ env, container, readyMs: performance.now() });
  // The process that runs `npm start` restarts a service that was ready.
  process.send?.("ready");
  trimMemoryRegularly();
}
