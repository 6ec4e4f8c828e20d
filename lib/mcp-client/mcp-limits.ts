/** What a tool server may take of time and room. */
export type McpLimits = {
  /** For connecting and listing all pages, in milliseconds. Source: specification, Limits. */
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
  /** How long a call may be silent, in milliseconds; a progress notification begins it anew. */
  callIdleMs: number;
  /** How long a call may take in all, in milliseconds, without the time in which a person is asked. */
  callMs: number;
  /** How long a person is given for one question of a server, in milliseconds. */
  answerMs: number;
  /** How often a server may have its stream of notifications opened again. */
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
