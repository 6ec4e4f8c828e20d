import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { LiveHub } from "../live/live-hub.ts";
import type { PathOperations } from "../serve/serve-path.ts";
import type { PageLoaders } from "./page-loaders.ts";

/**
 * The functions that the service offers to Next's routes. Next bundles its own copies of modules, so the routes and the
 * service share only this object.
 */
export type Mounted = PageLoaders & {
  serve: (operations: PathOperations, request: Request, params: Record<string, string>) => Promise<Response>;
  upgradeToWebSocket: LiveHub["upgradeToWebSocket"];
  /** Serves `/api/inngest` if an Inngest server runs the functions. Undefined if the embedded engine runs them. */
  serveEngine: ((request: Request, peer: string | undefined) => Promise<Response>) | undefined;
  /** Serves `/api/mcp`, the built-in MCP server. */
  serveMcp: (request: Request) => Promise<Response>;
  /**
   * Handles share links and the sign-in with the identity provider. See `exchangeLinkForCookie` in `lib/api/auth/exchange-link.ts`.
   */
  exchangeLinkForCookie: (request: Request) => Promise<Response | "unknown" | undefined>;
  /** Serves landing pages below `/p/`. */
  servePage: (request: Request) => Promise<Response>;
  /** The origin of landing pages, if they have one of their own (`PUBLIC_PAGES_ORIGIN`). */
  pagesOrigin: string | undefined;
  /** Serves the page of an answer link, which settles one item of the inbox. */
  serveAnswerPage: (request: Request) => Promise<Response>;
  /** Serves `POST /login`, which signs in with the token of a login link. */
  logIn: (request: Request) => Promise<Response>;
};

const CONTAINER = Symbol.for("agent-session-service");
const OPENING = Symbol.for("agent-session-service.opening");

type Globals = { [CONTAINER]?: Mounted; [OPENING]?: Promise<Mounted> | undefined };

/** Path of the module that opens the service, relative to the root of the project. */
const OPENER = "lib/server/open-serverless.ts";

/**
 * Returns the service of this process. In the service's own server process, the service is already open. A serverless
 * process opens the service with the settings of its environment at the first call. Node imports the opener at runtime
 * and Next does not bundle it, so that both kinds of process run the same code.
 *
 * @throws Error with a readable message if the service cannot be opened. The next call tries again.
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

/**
 * Whether the service's own server process serves the pages. That process does the work of Next's proxy before it calls
 * Next.
 */
export const isServedByOwnProcess = (): boolean => (globalThis as Globals)[CONTAINER] !== undefined;

async function open(): Promise<Mounted> {
  const url = pathToFileURL(join(/* turbopackIgnore: true */ process.cwd(), OPENER)).href;
  const { openServerless } = await import(/* turbopackIgnore: true */ url);
  return openServerless();
}
