import type { McpServerRow } from "#db/schema/index.ts";

/** A function with the signature of the global `fetch`. */
export type Fetch = typeof globalThis.fetch;

/** One tool server, with the credentials and the fetch to reach it. */
export type McpServer = {
  id: string;
  url: string;
  type: "http" | "sse";
  /** Request headers. They may contain secrets and are sent to this server only. */
  headers: Readonly<Record<string, string>>;
  /**
   * The fetch for this server: the guarded fetch, which refuses private addresses, or the fetch of `ServerDeps.builtin`
   * for the service's own server.
   */
  fetch: Fetch;
  /** Whether this process itself serves the URL. */
  isOurs: boolean;
  /** Lists credentials that `fetch` sends besides `headers`. */
  listSecrets?: () => string[];
};

/** The id that is reserved for the service's own tool server. Source: specification, MCP servers, rule 2. */
export const BUILTIN = "builtin";

/** Limit on the questions that one call may ask a person. */
export const QUESTIONS_MAX = 24;

/** The parts of a turn that the client of tool servers needs. */
export type McpTurn = {
  sessionId: string;
  runId: string;
  /**
   * Distinguishes the executors that have executed this run one after another. Each executor has its own connections.
   */
  epoch: number;
  mayAskPeople: boolean;
  /** How long a question of a server waits at most; undefined for the limit of the service alone. */
  answerTimeoutMs?: number | undefined;
  /** The session's servers by id, as stored. */
  servers: Readonly<Record<string, McpServerRow>>;
  /** The revisions of the protocol in which the session's servers answered last, by their ids. */
  revisions: Readonly<Record<string, string>>;
  /** Cache key for the tool list of the service's own server. Turns with an equal key are offered the same tools. */
  offerKey: string;
};
