import type { Logger } from "#lib/log/logger.ts";

const TIMEOUT_MS = 3_000;

/**
 * Asks the external feature flag service whether a `web` caller may use sub-agents: `GET <url>?userId=…` returns
 * `{ "enabled": true }`. Returns false if no URL is configured, if the caller has no identity, or if the request fails.
 * Source: specification, Rules for profile fields, 3; `configuration.md`, Variables, `SUBAGENT_WEB_FLAG_URL`.
 */
export async function askSubAgentFlag(
  flagUrl: string | undefined,
  userId: string | null,
  logger: Pick<Logger, "warn">,
): Promise<boolean> {
  if (flagUrl === undefined || userId === null) return false;
  const url = new URL(flagUrl);
  url.searchParams.set("userId", userId);
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "error" });
    const answer: unknown = response.ok ? await response.json() : undefined;
    return typeof answer === "object" && answer !== null && "enabled" in answer && answer.enabled === true;
  } catch (error) {
    logger.warn({ err: error }, "the sub-agent flag could not be read; it counts as off");
    return false;
  }
}
