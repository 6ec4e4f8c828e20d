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
