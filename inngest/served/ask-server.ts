import type { Inngest } from "inngest";
import { hashSigningKey } from "./hash-signing-key.ts";

/**
 * What an Inngest server answers about this app. `registered`: it knows functions of the app. `unregistered`: it knows
 * none. `unclear`: it answers, but does not tell.
 */
export type ServerAnswer = "unreachable" | "unregistered" | "registered" | "unclear";

const TIMEOUT_MS = 3_000;
/** Statuses of a proxy whose server is away. */
const GATEWAY_ERRORS = [502, 503, 504];

/**
 * Asks an Inngest server for the functions of this app (`GET /v1/apps/:app/functions`). Self-hosted servers and the dev
 * server answer with a list, which is empty or `null` for an unknown app. The answer of a server without this path, or
 * that refuses it, is unclear.
 */
export async function askServer(
  client: Pick<Inngest, "id" | "apiBaseUrl" | "signingKey">,
): Promise<ServerAnswer> {
  const url = new URL(`/v1/apps/${encodeURIComponent(client.id)}/functions`, client.apiBaseUrl);
  const { signingKey } = client;
  const headers = signingKey ? { authorization: `Bearer ${hashSigningKey(signingKey)}` } : undefined;
  try {
    const response = await fetch(url, {
      ...(headers && { headers }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: "manual",
    });
    if (GATEWAY_ERRORS.includes(response.status)) {
      await response.body?.cancel();
      return "unreachable";
    }
    return response.status === 200 ? readAnswer(await response.json()) : "unclear";
  } catch (error) {
    return error instanceof SyntaxError ? "unclear" : "unreachable";
  }
}

function readAnswer(functions: unknown): ServerAnswer {
  if (functions === null) return "unregistered";
  if (!Array.isArray(functions)) return "unclear";
  return functions.length > 0 ? "registered" : "unregistered";
}
