import { McpFailure } from "../mcp-error.ts";
import type { ServerSecrets } from "../read-server-secrets.ts";
import type { Fetch, McpServer } from "../tool-server.ts";
import { BUILTIN, type McpTurn } from "../tool-server.ts";

/** Where tool servers are reached, and with what. */
export type ServerDeps = {
  /** Opens what is stored sealed of a server. */
  readSecrets: (sessionId: string, serverId: string) => Promise<ServerSecrets>;
  /** The guarded fetch: https only, no redirect to another host. */
  fetch: Fetch;
  /** The same fetch on behalf of a session; `fetch` by default. */
  fetchFor?: (sessionId: string) => Fetch;
  /** The service's own tool server; without it there is none. */
  builtin?: {
    url: string;
    /** Whether it is this very process, so that what it lists follows from the session and stays the same. */
    isOurs: boolean;
    /** What reaches `url` (and no other): it is the deployment's own choice, not a caller's. */
    fetch: Fetch;
    issueUserToken: (sessionId: string, audience: string) => string;
  };
};

/** The ids of a turn's servers, the service's own last. */
export const listServerIds = (
  { builtin }: Pick<ServerDeps, "builtin">,
  { servers }: Pick<McpTurn, "servers">,
): string[] => [...Object.keys(servers).filter((id) => id !== BUILTIN), ...(builtin ? [BUILTIN] : [])];

/** Whether a server of a turn is this very process. */
export const isOurs = (
  { builtin }: Pick<ServerDeps, "builtin">,
  { servers }: Pick<McpTurn, "servers">,
  id: string,
): boolean =>
  id === BUILTIN && builtin?.isOurs === true && (servers[BUILTIN]?.url ?? builtin.url) === builtin.url;

/**
 * One of a turn's servers with its credentials: the caller's headers, or for the service's own, wherever the session
 * has pinned it to, a token of the session for that very URL.
 *
 * @throws McpFailure where there is none of that id, or its secrets cannot be opened.
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

/** The URL that a session has pinned the built-in server to, in full. */
async function readPinnedUrl(deps: ServerDeps, sessionId: string, stored: string): Promise<string> {
  // Only URLs with a query or a fragment are stored masked.
  if (!/[?#]/.test(stored)) return stored;
  return (await deps.readSecrets(sessionId, BUILTIN)).url ?? stored;
}
