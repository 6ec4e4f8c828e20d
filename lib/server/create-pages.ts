import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Env } from "./env.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Next.js, which renders the pages and answers all requests that the service does not answer itself. */
type Pages = {
  /**
   * Answers a request with Next. Loads Next if necessary. @throws if Next cannot be loaded; the next request tries
   * again.
   */
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /**
   * Checks that the pages were built, so that Next can load them later; in development, checks nothing. @throws Error
   * if they were not built.
   */
  check: () => void;
  /** Loads Next immediately. */
  open: () => Promise<void>;
  close: () => Promise<void>;
};

type Next = Awaited<ReturnType<typeof prepareNext>>;

/**
 * Creates the pages. Loads Next with the first request for a page, because Next takes 50 MB and half a second, and
 * clients of the HTTP API do not need it.
 *
 * @param hub a server that does not listen. Next handles its development sockets on this server; the real server
 * forwards upgrades to it.
 */
export function createPages(
  env: Env,
  hub: Server,
  load: () => Promise<Next> = () => prepareNext(env, hub),
): Pages {
  let loading: Promise<Next> | undefined;
  let isClosed = false;

  function open(): Promise<Next> {
    if (isClosed) return Promise.reject(new Error("the service is stopping"));
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  }

  return {
    check() {
      if (env.NODE_ENV !== "development") checkBuild();
    },
    async handle(request, response) {
      const { handle } = await open();
      return handle(request, response);
    },
    async open() {
      await open();
    },
    async close() {
      isClosed = true;
      await (await loading?.catch(() => undefined))?.app.close();
    },
  };
}

/** Checks at the start of the service that the pages are built, because Next itself is loaded later. */
function checkBuild(): void {
  import.meta.resolve("next");
  if (!existsSync(join(ROOT, ".next", "BUILD_ID")))
    throw new Error("the pages are not built; npm start builds them");
}

/**
 * Gives Next the configuration that its build has resolved, in the variable that the server of Next's own standalone
 * output sets. Otherwise Next would load a compiler to read `next.config.ts`, which takes 100 ms and 25 MB.
 */
async function passConfig(): Promise<void> {
  const files = JSON.parse(await readFile(join(ROOT, ".next", "required-server-files.json"), "utf8"));
  process.env.__NEXT_PRIVATE_STANDALONE_CONFIG = JSON.stringify(files.config);
}

/** Loads Next. @param hub see {@link createPages}. */
export async function prepareNext(env: Pick<Env, "NODE_ENV" | "HOST" | "PORT">, hub: Server) {
  if (env.NODE_ENV !== "development") await passConfig();
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
