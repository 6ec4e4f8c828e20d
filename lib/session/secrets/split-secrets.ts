import type { McpServerRow } from "#db/schema/index.ts";
import { maskUrl } from "#lib/text/mask-url.ts";
import { CALLBACK_SECRET, CALLBACK_URL, nameMcpHeaders, nameMcpUrl } from "./secret-names.ts";

/** A secret of a session by its name, not sealed yet. */
export type NamedSecret = { name: string; text: string };

/** The URLs of a session as its row holds them. */
type StoredUrls = { callbackUrl: string | null; mcpServers: Record<string, McpServerRow> };

/** Masks the URLs of a session for its row. @returns what was masked, in full, to be sealed. */
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

type GivenSecrets = {
  callback: { url: string; secret: string | null } | null;
  mcpServers: Record<string, McpServerRow & { headers: Record<string, string> | null }>;
};

/** Divides what a new session was given into what its row may hold, and what is sealed. */
export function splitSecrets({
  callback,
  mcpServers,
}: GivenSecrets): StoredUrls & { secrets: NamedSecret[] } {
  const { secrets, ...urls } = splitUrls({ callbackUrl: callback?.url ?? null, mcpServers });
  const headers = Object.entries(mcpServers).flatMap(([id, server]) =>
    server.headers ? [{ name: nameMcpHeaders(id), text: JSON.stringify(server.headers) }] : [],
  );
  const secret = callback?.secret ? [{ name: CALLBACK_SECRET, text: callback.secret }] : [];
  return { ...urls, secrets: [...secrets, ...headers, ...secret] };
}
