import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { PathOperations } from "../http/serve-path.ts";
import type { LiveHub } from "../live/live-hub.ts";
import type { PageLoaders } from "./page-loaders.ts";

/** What the service offers to Next's routes; the two module graphs share this object and nothing else. */
export type Mounted = PageLoaders & {
  serve: (operations: PathOperations, request: Request, params: Record<string, string>) => Promise<Response>;
  openLive: LiveHub["openLive"];
  /** `/api/inngest`, where a real server drives the functions; undefined with the embedded engine. */
  serveEngine: ((request: Request, peer: string | undefined) => Promise<Response>) | undefined;
  /** `/api/mcp`, the built-in MCP server. */
  serveMcp: (request: Request) => Promise<Response>;
  /** @see enterByLink */
  enterByLink: (request: Request) => Promise<Response | "unknown" | undefined>;
};

const CONTAINER = Symbol.for("agent-session-service");
const OPENING = Symbol.for("agent-session-service.opening");

type Globals = { [CONTAINER]?: Mounted; [OPENING]?: Promise<Mounted> | undefined };

/** From the root of the project. */
const OPENER = "lib/server/open-serverless.ts";

/**
 * The service: the one of our own server process, or, where the pages are served without it, one that is opened from the
 * environment at the first need. It is imported by Node itself, not bundled, so that it is the same code in both.
 *
 * @throws Error with a sentence when it cannot be opened; the next call tries again.
 */
export async function findContainer(): Promise<Mounted> {
  const globals = globalThis as Globals;
  const found = globals[CONTAINER];
  if (found) return found;
  globals[OPENING] ??= open().catch((error: unknown) => {
    globals[OPENING] = undefined;
    throw error;
  });
  return globals[OPENING];
}

/** Whether the pages are served by our own server process, which does itself what a proxy would. */
export const isServedByOwnProcess = (): boolean => (globalThis as Globals)[CONTAINER] !== undefined;

async function open(): Promise<Mounted> {
  const url = pathToFileURL(join(/* turbopackIgnore: true */ process.cwd(), OPENER)).href;
  const { openServerless } = await import(/* turbopackIgnore: true */ url);
  return openServerless();
}
