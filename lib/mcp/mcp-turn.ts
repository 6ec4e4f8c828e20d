import type { McpServerRow } from "#db/schema/index.ts";

/** The id that is reserved for the service's own tool server. Source: specification, MCP servers, rule 2. */
export const BUILTIN = "builtin";

/** A turn as its tool servers are concerned. */
export type McpTurn = {
  sessionId: string;
  runId: string;
  /** Tells this executor of the run from any other: each has connections of its own. */
  epoch: number;
  isPersonPresent: boolean;
  /** The session's servers by id, as stored. */
  servers: Readonly<Record<string, McpServerRow>>;
  /** What of the session its own tool server asks for when it lists its tools: equal for turns that are offered the same. */
  offerKey: string;
};
