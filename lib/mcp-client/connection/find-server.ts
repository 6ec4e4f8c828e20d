import { McpFailure } from "../mcp-error.ts";
import type { ServerSecrets } from "../read-server-secrets.ts";
import type { Fetch, McpServer } from "../tool-server.ts";
import { BUILTIN, type McpTurn } from "../tool-server.ts";
import { createTokenSource, type TokenSource } from "./client-credentials.ts";

/** Keeps the sources of tokens that were used lately, so that a session does not need a token for each turn. */
type TokenSources = { of: (key: string, create: () => TokenSource) => TokenSource };

const SOURCES_MAX = 1_000;

/** @see TokenSources */
export function createTokenSources(): TokenSources {
  const sources = new Map<string, TokenSource>();
  return {
    of(key, create) {
      const source = sources.get(key) ?? create();
      // Last in the map, so that the first one is the one that was not used for the longest time.
      sources.delete(key);
      sources.set(key, source);
      const [oldest] = sources.keys();
      if (sources.size > SOURCES_MAX && oldest !== undefined) sources.delete(oldest);
      return source;
    },
  };
}

/** What is needed to reach tool servers: their stored secrets, a fetch, and the address of the service's own server. */
export type ServerDeps = {
  /** Decrypts the stored headers and URL of a server. */
  readSecrets: (sessionId: string, serverId: string) => Promise<ServerSecrets>;
  /** The guarded fetch. It allows only https, and follows no redirect to another host. */
  fetch: Fetch;
  /** Creates a fetch with the same rules for one session. Omit to use `fetch` for all sessions. */
  fetchFor?: (sessionId: string) => Fetch;
  /** The sources of tokens, which outlive turns, by session and server. */
  tokens: TokenSources;
  /** The service's own tool server. Omit for a deployment without one. */
  builtin?: {
    url: string;
    /**
     * Whether this process itself serves `url`. If so, the tool list of the server depends only on `offerKey`, and is
     * cached.
     */
    isOurs: boolean;
    /** A fetch for `url` only. It may reach a private network, because the operator, not a caller, chose the URL. */
    fetch: Fetch;
    issueUserToken: (sessionId: string, audience: string) => string;
  };
};

/** Lists the ids of a turn's servers. The service's own server comes last. */
export const listServerIds = (
  { builtin }: Pick<ServerDeps, "builtin">,
  { servers }: Pick<McpTurn, "servers">,
): string[] => [...Object.keys(servers).filter((id) => id !== BUILTIN), ...(builtin ? [BUILTIN] : [])];

/** Whether requests to this server of a turn reach this process itself. */
export const isOurs = (
  { builtin }: Pick<ServerDeps, "builtin">,
  { servers }: Pick<McpTurn, "servers">,
  id: string,
): boolean =>
  id === BUILTIN && builtin?.isOurs === true && (servers[BUILTIN]?.url ?? builtin.url) === builtin.url;

/**
 * Finds a turn's server with its credentials, which are usually the headers that the caller set. The credential for the
 * service's own server is a user token. The token is bound to the URL of that server, or to the URL that the session
 * has set instead.
 *
 * @throws McpFailure if the session has no server with this id, or the secrets of the server cannot be decrypted.
 */
export async function findServer(deps: ServerDeps, turn: McpTurn, id: string): Promise<McpServer> {
  const { sessionId, servers } = turn;
  const row = Object.hasOwn(servers, id) ? servers[id] : undefined;
  if (id === BUILTIN && deps.builtin) {
    const { builtin } = deps;
    const url = row ? await readPinnedUrl(deps, sessionId, row.url) : builtin.url;
    const send = url === builtin.url ? builtin.fetch : deps.fetch;
    // A turn may last longer than a token is valid, so each request gets a new token.
    const fetch: Fetch = (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("authorization", `Bearer ${builtin.issueUserToken(sessionId, url)}`);
      return send(input, { ...init, headers });
    };
    return { id, url, type: "http", headers: {}, fetch, isOurs: isOurs(deps, turn, id) };
  }
  if (!row || id === BUILTIN) throw new McpFailure(`the session has no server ${id}`);
  const { headers, url = row.url, auth } = await deps.readSecrets(sessionId, id);
  const send = deps.fetchFor?.(sessionId) ?? deps.fetch;
  const tokens =
    auth && deps.tokens.of(`${sessionId} ${id}`, () => createTokenSource(auth, { url, fetch: send }));
  const about = { id, type: row.type, url, headers, isOurs: false };
  return tokens
    ? { ...about, fetch: tokens.fetch, listSecrets: tokens.listSecrets }
    : { ...about, fetch: send };
}

/** Reads the full URL that a session has set for the built-in server. `stored` is the URL in the session's row. */
async function readPinnedUrl(deps: ServerDeps, sessionId: string, stored: string): Promise<string> {
  // A URL without query and fragment is not masked in the session's row, so `stored` is the full URL.
  if (!/[?#]/.test(stored)) return stored;
  return (await deps.readSecrets(sessionId, BUILTIN)).url ?? stored;
}
