import type { Database } from "#db/client.ts";
import type { Sealer } from "#lib/secrets/sealer.ts";
import { nameMcpAuth, nameMcpHeaders, nameMcpUrl, placeSecret } from "#lib/session/secrets/secret-names.ts";
import { readSealedSecrets } from "#lib/session/store/secret-store.ts";
import type { ClientCredentials } from "./connection/client-credentials.ts";
import { McpFailure } from "./mcp-error.ts";

/** The parts of a tool server's settings that are stored encrypted. */
export type ServerSecrets = {
  headers: Record<string, string>;
  /** OAuth credentials. Undefined if the server has none. */
  auth?: ClientCredentials | undefined;
  /** The full URL. Undefined if the session's row contains the full URL. */
  url: string | undefined;
};

/**
 * Decrypts the headers, the OAuth credentials and the URL of one of a session's tool servers. Each may be missing.
 *
 * @throws McpFailure if they were encrypted with a key that is not configured.
 */
export async function readServerSecrets(
  { db, sealer }: { db: Database; sealer: Sealer },
  sessionId: string,
  serverId: string,
): Promise<ServerSecrets> {
  const [headersName, urlName, authName] = [
    nameMcpHeaders(serverId),
    nameMcpUrl(serverId),
    nameMcpAuth(serverId),
  ];
  const stored = await readSealedSecrets(db, sessionId, [headersName, urlName, authName]);
  const open = (name: string, what: string): string | undefined => {
    const sealed = stored.get(name);
    if (sealed === undefined) return undefined;
    try {
      return sealer.open(placeSecret(sessionId, name), sealed);
    } catch {
      throw new McpFailure(`${what} cannot be read with this ENCRYPTION_KEY`);
    }
  };
  const headers = open(headersName, "its headers");
  const auth = open(authName, "its credentials");
  // The JSON is trusted: the service encrypted these secrets itself, after the API contract had validated them.
  return {
    headers: headers === undefined ? {} : JSON.parse(headers),
    url: open(urlName, "its URL"),
    ...(auth !== undefined && { auth: JSON.parse(auth) }),
  };
}
