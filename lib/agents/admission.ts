import type { DelegationCaps } from "#lib/session/delegation.ts";
import { countOf } from "#lib/text/count-of.ts";
import type { LiveCounts } from "./agent-store.ts";

/** The deployment's limits on delegation. Source: `wire.md`, Sub-agents. */
export type DelegationLimits = DelegationCaps & {
  /** Maximum depth of the tree of sub-agents: 1 allows only children, 2 also grandchildren (`DELEGATION_MAX_DEPTH`). */
  maxDepth: number;
  /** Maximum number of live (not ended) sub-agents under one root session (`DELEGATION_MAX_LIVE_TOTAL`). */
  maxLiveTotal: number;
};

/** What a call of `tool` requests: a number of sub-agents, and how many of them get their own browser. */
type Demand = { tool: string; children: number; browsers: number };

/**
 * Returns why a call would exceed a limit on live sub-agents, or undefined if it would not.
 * Source: specification, Rules for profile fields, 8; `wire.md`, Sub-agents.
 *
 * @param caps the limits of the session that delegates, and the limit for the whole tree.
 */
export function refuseOverCap(
  { tool, children, browsers }: Demand,
  live: LiveCounts,
  caps: DelegationCaps & Pick<DelegationLimits, "maxLiveTotal">,
): string | undefined {
  const more = (count: number, which: string) =>
    `${tool}: ${countOf(count, "more child", "more children")}${which}`;
  if (live.children + children > caps.maxLiveChildren)
    return `${more(children, "")} would exceed maxLiveChildren=${caps.maxLiveChildren} (${live.children} live). ${advise(caps.maxLiveChildren)}`;
  if (browsers > 0 && live.browsers + browsers > caps.maxLiveBrowsers)
    return `${more(browsers, " with browser: own")} would exceed maxLiveBrowsers=${caps.maxLiveBrowsers} (${live.browsers} live). ${advise(caps.maxLiveBrowsers)}`;
  if (live.total + children > caps.maxLiveTotal)
    return `${more(children, "")} would exceed DELEGATION_MAX_LIVE_TOTAL=${caps.maxLiveTotal} (${live.total} live in the whole tree). ${advise(caps.maxLiveTotal)}`;
  return undefined;
}

const advise = (cap: number): string =>
  cap === 0 ? "Do the work yourself." : "Wait for one, cancel one, or spawn fewer.";

/** Returns why a session at this depth may not spawn sub-agents, or undefined if it may. */
export const refuseDepth = (
  depth: number,
  { maxDepth }: Pick<DelegationLimits, "maxDepth">,
): string | undefined =>
  depth < maxDepth
    ? undefined
    : `spawn_agents: a sub-agent of yours would be at depth ${depth + 1}, which exceeds DELEGATION_MAX_DEPTH=${maxDepth}. Do the work yourself.`;
