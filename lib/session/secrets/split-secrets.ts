import type { McpServerRow } from "#db/schema/index.ts";
import { maskUrl } from "#lib/text/mask-url.ts";
import { CALLBACK_SECRET, CALLBACK_URL, nameMcpAuth, nameMcpHeaders, nameMcpUrl } from "./secret-names.ts";

/** An unsealed secret of a session, with its name. */
export type NamedSecret = { name: string; text: string };

/** The URLs in a session's row. */
type StoredUrls = { callbackUrl: string | null; mcpServers: Record<string, McpServerRow> };

/**
 * Masks the secrets in the URLs of a session. @returns the masked URLs for the session's row, and the full URLs to
 * seal.
 */
export function splitUrls({ callbackUrl, mcpServers }: StoredUrls): StoredUrls & { secrets: NamedSecret[] } {
  const secrets: NamedSecret[] = [];
  const mask = (name: string, url: string): string => {
    const masked = maskUrl(url);
    if (masked !== url) secrets.push({ name, text: url });
    return masked;
  };
  return {
    callbackUrl: callbackUrl === null ? null : mask(CALLBACK_URL, callbackUrl),
    mcpServers: Object.fromEntries(
      Object.entries(mcpServers).map(([id, { url, type }]) => [id, { url: mask(nameMcpUrl(id), url), type }]),
    ),
    secrets,
  };
}

type SecretInput = {
  callback: { url: string; secret: string | null } | null;
  mcpServers: Record<string, McpServerInput>;
};

/** A tool server as its caller gives it. `auth` is null, or OAuth credentials. */
export type McpServerInput = McpServerRow & { headers: Record<string, string> | null; auth: object | null };

/** Splits the input of a new session into the masked URLs for the session's row and the secrets to seal. */
export function splitSecrets({ callback, mcpServers }: SecretInput): StoredUrls & { secrets: NamedSecret[] } {
  const { secrets, ...urls } = splitUrls({ callbackUrl: callback?.url ?? null, mcpServers });
  const credentials = Object.entries(mcpServers).flatMap(([id, { headers, auth }]) => [
    ...(headers ? [{ name: nameMcpHeaders(id), text: JSON.stringify(headers) }] : []),
    ...(auth ? [{ name: nameMcpAuth(id), text: JSON.stringify(auth) }] : []),
  ]);
  const secret = callback?.secret ? [{ name: CALLBACK_SECRET, text: callback.secret }] : [];
  return { ...urls, secrets: [...secrets, ...credentials, ...secret] };
}
