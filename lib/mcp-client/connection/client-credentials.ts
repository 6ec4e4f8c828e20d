import {
  checkResourceAllowed,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  selectClientAuthMethod,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import { isGuardedFetchError } from "#lib/net/fetch/guarded-fetch-error.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { McpFailure } from "../mcp-error.ts";
import type { Fetch } from "../tool-server.ts";
import { capBody } from "./cap-body.ts";

/** How the service gets tokens for a tool server. Source: decision 154. */
export type ClientCredentials = {
  type: "client_credentials";
  clientId: string;
  clientSecret: string;
  /** Undefined to follow the metadata of the server. */
  tokenUrl?: string | undefined;
  scope?: string | undefined;
};

/** Adds access tokens to the requests of a tool server. */
export type TokenSource = {
  fetch: Fetch;
  /** The credentials that were sent lately. They must not be shown to anyone. */
  listSecrets: () => string[];
};

type Deps = { url: string; fetch: Fetch; now?: () => number };
type Token = { value: string; expiresAtMs: number };
type Endpoint = { url: string; isBasic: boolean };

const tokenSchema = z.looseObject({
  access_token: z.string().min(1).max(16_384),
  token_type: z.string().nullish(),
  expires_in: z.coerce.number().positive().nullish().catch(undefined),
});

/** Time for finding the token endpoint and getting a token, in milliseconds. */
const OBTAIN_MS = 10_000;
const ANSWER_BYTES_MAX = 65_536;
/** A token is replaced this long before it expires, but not before half of its time is over. */
const EARLY_MS = 30_000;
const SECRETS_KEPT = 8;

/**
 * Creates the fetch for a tool server that wants OAuth client credentials. A token is obtained at the first need, used
 * until shortly before it expires, and replaced once if the server refuses it. The client's secret is sent to the token
 * endpoint only, and the token to the server only.
 *
 * @param deps.fetch the guarded fetch, which is used for the token endpoint, too.
 */
export function createTokenSource(credentials: ClientCredentials, deps: Deps): TokenSource {
  const now = deps.now ?? Date.now;
  const secrets = [credentials.clientSecret];
  let token: Token | undefined;
  let endpoint: Endpoint | undefined;
  let obtaining: Promise<Token> | undefined;

  /** Obtains a token. Requests that need one at the same time share it. */
  function obtain(refusal: Response | undefined): Promise<Token> {
    obtaining ??= createDeadline({ ms: OBTAIN_MS })
      .run(async (signal) => {
        const fetch = boundFetch(deps.fetch, signal);
        endpoint ??= credentials.tokenUrl
          ? { url: credentials.tokenUrl, isBasic: true }
          : await findEndpoint(deps.url, fetch, refusal);
        const obtained = await requestToken(credentials, endpoint, { ...deps, fetch, now });
        secrets.push(obtained.value);
        // The client's secret stays; the oldest token goes.
        if (secrets.length > SECRETS_KEPT) secrets.splice(1, 1);
        token = obtained;
        return obtained;
      })
      .catch((error: unknown) => {
        throw toFailure(error);
      })
      .finally(() => {
        obtaining = undefined;
      });
    return obtaining;
  }

  const fetch: Fetch = async (input, init) => {
    const send = ({ value }: Token) => {
      const headers = new Headers(init?.headers);
      headers.set("authorization", `Bearer ${value}`);
      return deps.fetch(input, { ...init, headers });
    };
    const current = token && now() < token.expiresAtMs ? token : undefined;
    // Without a token, the server's refusal says where tokens come from, if the caller has not said it.
    const isUnknown = !current && !endpoint && credentials.tokenUrl === undefined;
    const response = isUnknown
      ? await deps.fetch(input, init)
      : await send(current ?? (await obtain(undefined)));
    if (response.status !== 401) return response;
    await response.body?.cancel();
    // Another request may have replaced the token already.
    const renewed = token && token !== current && now() < token.expiresAtMs ? token : await obtain(response);
    const again = await send(renewed);
    if (again.status !== 401) return again;
    await again.body?.cancel();
    token = undefined;
    throw new McpFailure("the server refused the token that it asks for (401)", { isUnauthorized: true });
  };
  return { fetch, listSecrets: () => [...secrets] };
}

/** Limits a fetch in time and in the size of its answers. */
const boundFetch =
  (fetch: Fetch, signal: AbortSignal): Fetch =>
  async (input, init) => {
    const response = await fetch(input, { ...init, signal });
    const { host } = new URL(input instanceof Request ? input.url : input);
    return capBody(response, { host, messageBytesMax: ANSWER_BYTES_MAX, bytesMax: ANSWER_BYTES_MAX });
  };

/** Finds the token endpoint by the metadata of the server (RFC 9728) and of its authorization server (RFC 8414). */
async function findEndpoint(url: string, fetch: Fetch, refusal: Response | undefined): Promise<Endpoint> {
  const named = refusal && extractWWWAuthenticateParams(refusal).resourceMetadataUrl;
  const { authorizationServerMetadata: metadata, resourceMetadata: resource } = await discoverOAuthServerInfo(
    url,
    { fetchFn: fetch, ...(named && { resourceMetadataUrl: named }) },
  );
  const isFitting =
    !resource || checkResourceAllowed({ requestedResource: url, configuredResource: resource.resource });
  if (!metadata || !isFitting) throw new McpFailure(NO_ENDPOINT, { isUnauthorized: true });
  // The method is chosen by what the server supports only; the secret itself does not matter.
  const method = selectClientAuthMethod(
    { client_id: "", client_secret: "", redirect_uris: [] } as Parameters<typeof selectClientAuthMethod>[0],
    metadata.token_endpoint_auth_methods_supported ?? [],
  );
  return { url: metadata.token_endpoint, isBasic: method === "client_secret_basic" };
}

const NO_ENDPOINT = "the server does not say where its tokens come from; name it in auth.tokenUrl";

/** Requests a token for this server only (RFC 8707). Source: RFC 6749, 4.4. */
async function requestToken(
  { clientId, clientSecret, scope }: ClientCredentials,
  { url, isBasic }: Endpoint,
  { url: resource, fetch, now }: { url: string; fetch: Fetch; now: () => number },
): Promise<Token> {
  const { origin, pathname } = new URL(resource);
  const body = new URLSearchParams({ grant_type: "client_credentials", resource: `${origin}${pathname}` });
  if (scope !== undefined) body.set("scope", scope);
  const headers = new Headers({
    accept: "application/json",
    "content-type": "application/x-www-form-urlencoded",
  });
  if (isBasic) {
    const pair = [clientId, clientSecret].map(encodeURIComponent).join(":");
    headers.set("authorization", `Basic ${Buffer.from(pair).toString("base64")}`);
  } else {
    body.set("client_id", clientId);
    body.set("client_secret", clientSecret);
  }
  const askedAtMs = now();
  // A redirect is not followed: the secret is for this address only.
  const response = await fetch(url, { method: "POST", headers, body: body.toString(), redirect: "manual" });
  if (!response.ok) {
    await response.body?.cancel();
    throw new McpFailure(`the token endpoint answered with status ${response.status}`, {
      isUnauthorized: true,
    });
  }
  const { access_token: value, expires_in: seconds } = tokenSchema.parse(await response.json());
  if (/[^\x21-\x7e]/.test(value)) throw new SyntaxError("the token is no header value");
  const lifeMs = seconds ? seconds * 1_000 : Number.POSITIVE_INFINITY;
  return { value, expiresAtMs: askedAtMs + Math.max(lifeMs / 2, lifeMs - EARLY_MS) };
}

/** Says why no token was obtained. The sentence quotes no server. */
function toFailure(error: unknown): McpFailure {
  if (error instanceof McpFailure) return error;
  const options = { isUnauthorized: true };
  if (isGuardedFetchError(error)) return new McpFailure(`no token was obtained: ${error.message}`, options);
  if (error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError"))
    return new McpFailure(`no token was obtained within ${OBTAIN_MS / 1_000} s`, options);
  if (error instanceof SyntaxError || (error instanceof Error && /ZodError$/.test(error.name)))
    return new McpFailure("no token was obtained: an answer is not what OAuth asks for", options);
  return new McpFailure(NO_ENDPOINT, options);
}
