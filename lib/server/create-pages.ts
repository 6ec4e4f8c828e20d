import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import type { Env } from "./env.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Next, which draws the pages and answers whatever the service itself does not. */
type Pages = {
  /** Loads and prepares Next. @throws when there is no build, for one. */
  open: () => Promise<void>;
  /** Next's handler; a request that comes before Next is ready waits for it. */
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  close: () => Promise<void>;
};

/**
 * Loads Next after the other parts: it takes longer to load than all of them, and API clients do not need it.
 *
 * @param hub the server, listening nowhere, that Next attaches its development sockets to; ours hands them over.
 */
export function createPages(env: Env, hub: Server): Pages {
  const ready = Promise.withResolvers<Awaited<ReturnType<typeof prepare>>>();
  // Requests that wait for it hear of a failure; it need not be unhandled where there are none.
  ready.promise.catch(() => {});
  let isClosed = false;
  return {
    async open() {
      if (isClosed) return;
      ready.resolve(prepare(env, hub));
      await ready.promise;
    },
    async handle(request, response) {
      const { handle } = await ready.promise;
      return handle(request, response);
    },
    async close() {
      isClosed = true;
      ready.reject(new Error("the service is stopping"));
      await (await ready.promise.catch(() => undefined))?.app.close();
    },
  };
}

async function prepare(env: Env, hub: Server) {
  const { default: next } = await import("next");
  const app = next({
    dev: env.NODE_ENV === "development",
    dir: ROOT,
    hostname: env.HOST,
    port: env.PORT,
    httpServer: hub,
  });
  await app.prepare();
  return { app, handle: app.getRequestHandler() };
}
