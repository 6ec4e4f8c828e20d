/** Limits on the time, the size and the number of exchanges with a tool server. */
export type McpLimits = {
  /** Time for connecting and listing all pages, in milliseconds. Source: specification, Limits. */
  listMs: number;
  /** How long to wait until a server says whether it speaks the revision 2026-07-28, in milliseconds. */
  probeMs: number;
  pagesMax: number;
  /** Maximum size of all pages of a tool list together, in bytes of JSON. */
  listBytesMax: number;
  toolsPerServerMax: number;
  /** Maximum number of characters of a tool's description. Longer descriptions are cut. */
  descriptionMax: number;
  /** Maximum size of a tool's input schema as its server lists it, in bytes. Tools with larger schemas are left out. */
  listedSchemaBytesMax: number;
  /** Maximum size of a tool's input schema as the model reads it, in bytes. Tools with larger schemas are left out. */
  schemaBytesMax: number;
  /** Maximum size of one message of a server, in bytes after decompression. */
  messageBytesMax: number;
  /** Maximum size of all messages that answer one request, in bytes. */
  exchangeBytesMax: number;
  /** How long a call may go without a progress notification, in milliseconds. */
  callIdleMs: number;
  /** How long a call may take in total, in milliseconds, not counting the time that a person takes to answer. */
  callMs: number;
  /** How long a person has to answer one question of a server while its call is in progress, in milliseconds. */
  answerMs: number;
  /** How long a question waits for which the turn is parked, in milliseconds. */
  parkedAnswerMs: number;
  /** How often the client may open the server's notification stream on one connection. */
  streamsMax: number;
  /**
   * How many messages without an answer (notifications, and answers to the server's own requests) may be on their way to
   * the server at once. Further ones are not sent.
   */
  notificationsMax: number;
};

export const MCP_LIMITS: McpLimits = {
  listMs: 15_000,
  probeMs: 3_000,
  pagesMax: 64,
  listBytesMax: 4 * 1_048_576,
  toolsPerServerMax: 128,
  descriptionMax: 4_000,
  listedSchemaBytesMax: 262_144,
  schemaBytesMax: 32_768,
  messageBytesMax: 8 * 1_048_576,
  exchangeBytesMax: 64 * 1_048_576,
  callIdleMs: 60_000,
  callMs: 600_000,
  answerMs: 600_000,
  parkedAnswerMs: 7 * 86_400_000,
  streamsMax: 64,
  notificationsMax: 32,
};
