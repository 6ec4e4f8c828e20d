/** Time and size limits of a tool server. */
export type McpLimits = {
  /** Time for connecting and listing all pages, in milliseconds. Source: specification, Limits. */
  listMs: number;
  pagesMax: number;
  /** Bytes of all pages of a listing, as JSON. */
  listBytesMax: number;
  toolsPerServerMax: number;
  /** Characters of a tool's description; a longer one is cut. */
  descriptionMax: number;
  /** Bytes of a tool's input schema; a tool with a larger one is left out. */
  schemaBytesMax: number;
  /** Bytes of one message of a server, after decompression. */
  messageBytesMax: number;
  /** Bytes of all messages that answer one request. */
  exchangeBytesMax: number;
  /** How long a call may go without a progress notification, in milliseconds. */
  callIdleMs: number;
  /** How long a call may take in total, in milliseconds, not counting the time that a person takes to answer. */
  callMs: number;
  /** How long a person has to answer one question of a server, in milliseconds. */
  answerMs: number;
  /** How often the client opens a server's notification stream. */
  streamsMax: number;
};

export const MCP_LIMITS: McpLimits = {
  listMs: 15_000,
  pagesMax: 64,
  listBytesMax: 4 * 1_048_576,
  toolsPerServerMax: 128,
  descriptionMax: 4_000,
  schemaBytesMax: 32_768,
  messageBytesMax: 8 * 1_048_576,
  exchangeBytesMax: 64 * 1_048_576,
  callIdleMs: 60_000,
  callMs: 600_000,
  answerMs: 600_000,
  streamsMax: 64,
};
