import type { McpServerRow } from "#db/schema/index.ts";

/** A function of the shape of `fetch`. */
export type Fetch = typeof globalThis.fetch;

/** One tool server, with what is needed to reach it. */
export type McpServer = {
  id: string;
  url: string;
  type: "http" | "sse";
  /** Sent to this server alone; secrets. */
  headers: Readonly<Record<string, string>>;
  /** What reaches it: the guarded fetch, unless it is our own. */
  fetch: Fetch;
};

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
