import { existsSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Env } from "./env.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Next, which draws the pages and answers whatever the service itself does not. */
type Pages = {
  /** Next's handler; it loads Next if that has not been loaded. @throws when Next cannot be loaded; the next request tries again. */
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** @throws Error when there are no pages that could be loaded later. */
  check: () => void;
  /** Loads Next now. */
  open: () => Promise<void>;
  close: () => Promise<void>;
};

type Next = Awaited<ReturnType<typeof prepare>>;

/**
 * Loads Next when somebody asks for the first page: it takes 50 MB and half a second, and programs that use the HTTP
 * interface do not need it.
 *
 * @param hub the server, listening nowhere, that Next attaches its development sockets to; ours hands them over.
 */
export function createPages(
  env: Env,
  hub: Server,
  load: () => Promise<Next> = () => prepare(env, hub),
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

/** The pages themselves are not loaded, so what can be missing is looked for at the start. */
function checkBuild(): void {
  import.meta.resolve("next");
  if (!existsSync(join(ROOT, ".next", "BUILD_ID")))
    throw new Error("the pages are not built; npm start builds them");
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
