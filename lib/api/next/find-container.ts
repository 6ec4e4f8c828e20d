import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { PathOperations } from "../http/serve-path.ts";
import type { LiveHub } from "../live/live-hub.ts";
import type { PageLoaders } from "./page-loaders.ts";

/** The functions that the service offers to Next's routes. This object is all that the two module graphs share. */
export type Mounted = PageLoaders & {
  serve: (operations: PathOperations, request: Request, params: Record<string, string>) => Promise<Response>;
  openLive: LiveHub["openLive"];
  /** Serves `/api/inngest` if an Inngest server drives the functions; undefined with the embedded engine. */
  serveEngine: ((request: Request, peer: string | undefined) => Promise<Response>) | undefined;
  /** Serves `/api/mcp`, the built-in MCP server. */
  serveMcp: (request: Request) => Promise<Response>;
  /** @see enterByLink */
  enterByLink: (request: Request) => Promise<Response | "unknown" | undefined>;
};

const CONTAINER = Symbol.for("agent-session-service");
const OPENING = Symbol.for("agent-session-service.opening");

type Globals = { [CONTAINER]?: Mounted; [OPENING]?: Promise<Mounted> | undefined };

/** Path from the root of the project. */
const OPENER = "lib/server/open-serverless.ts";

/**
 * The service of this process. The service's own server process has opened it; a serverless process opens it from the
 * environment at the first call. The opener is imported by Node instead of being bundled, so that both run the same code.
 *
 * @throws Error with a sentence if the service cannot be opened; the next call tries again.
 */
export async function findContainer(): Promise<Mounted> {
  const globals = globalThis as Globals;
  const container = globals[CONTAINER];
  if (container) return container;
  globals[OPENING] ??= open().catch((error: unknown) => {
    globals[OPENING] = undefined;
    throw error;
  });
  return globals[OPENING];
}

/** Whether the service's own server process serves the pages. It has already done the work of Next's proxy. */
export const isServedByOwnProcess = (): boolean => (globalThis as Globals)[CONTAINER] !== undefined;

async function open(): Promise<Mounted> {
  const url = pathToFileURL(join(/* turbopackIgnore: true */ process.cwd(), OPENER)).href;
  const { openServerless } = await import(/* turbopackIgnore: true */ url);
  return openServerless();
}
