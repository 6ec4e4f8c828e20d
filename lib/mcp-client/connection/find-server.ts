import { McpFailure } from "../mcp-error.ts";
import type { ServerSecrets } from "../read-server-secrets.ts";
import type { Fetch, McpServer } from "../tool-server.ts";
import { BUILTIN, type McpTurn } from "../tool-server.ts";

/** How tool servers are reached: their stored secrets, the fetch, and the service's own server. */
export type ServerDeps = {
  /** Opens a server's sealed headers and URL. */
  readSecrets: (sessionId: string, serverId: string) => Promise<ServerSecrets>;
  /** The guarded fetch: https only, no redirect to another host. */
  fetch: Fetch;
  /** The same fetch on behalf of a session; `fetch` by default. */
  fetchFor?: (sessionId: string) => Fetch;
  /** The service's own tool server. Omit for a deployment without one. */
  builtin?: {
    url: string;
    /** Whether this process is the server, so that its tool list depends only on the session and can be cached. */
    isOurs: boolean;
    /** A fetch for `url` only. It may reach a private network, because the operator chose the URL, not a caller. */
    fetch: Fetch;
    issueUserToken: (sessionId: string, audience: string) => string;
  };
};

/** The ids of a turn's servers, the service's own last. */
export const listServerIds = (
  { builtin }: Pick<ServerDeps, "builtin">,
  { servers }: Pick<McpTurn, "servers">,
): string[] => [...Object.keys(servers).filter((id) => id !== BUILTIN), ...(builtin ? [BUILTIN] : [])];

/** Whether a server of a turn is this process. */
export const isOurs = (
  { builtin }: Pick<ServerDeps, "builtin">,
  { servers }: Pick<McpTurn, "servers">,
  id: string,
): boolean =>
  id === BUILTIN && builtin?.isOurs === true && (servers[BUILTIN]?.url ?? builtin.url) === builtin.url;

/**
 * Finds a turn's server with its credentials: the caller's headers, or for the service's own server a user token of the
 * session that is bound to the server's URL (the URL that the session has pinned, if any).
 *
 * @throws McpFailure if the session has no server with this id, or its secrets cannot be opened.
 */
export async function findServer(
  deps: ServerDeps,
  { sessionId, servers }: McpTurn,
  id: string,
): Promise<McpServer> {
  const row = Object.hasOwn(servers, id) ? servers[id] : undefined;
  if (id === BUILTIN && deps.builtin) {
    const { builtin } = deps;
    const url = row ? await readPinnedUrl(deps, sessionId, row.url) : builtin.url;
    const send = url === builtin.url ? builtin.fetch : deps.fetch;
    // A turn may last longer than a token, so each request has its own.
    const fetch: Fetch = (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("authorization", `Bearer ${builtin.issueUserToken(sessionId, url)}`);
      return send(input, { ...init, headers });
    };
    return { id, url, type: "http", headers: {}, fetch };
  }
  if (!row || id === BUILTIN) throw new McpFailure(`the session has no server ${id}`);
  const { headers, url = row.url } = await deps.readSecrets(sessionId, id);
  return { id, type: row.type, url, headers, fetch: deps.fetchFor?.(sessionId) ?? deps.fetch };
}

/** Reads the full URL to which a session has pinned the built-in server. */
async function readPinnedUrl(deps: ServerDeps, sessionId: string, stored: string): Promise<string> {
  // The session's row holds a masked URL only if the URL has a query or a fragment.
  if (!/[?#]/.test(stored)) return stored;
  return (await deps.readSecrets(sessionId, BUILTIN)).url ?? stored;
}
