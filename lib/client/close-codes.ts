/**
 * Close codes of a live connection. The service defines the codes from 4000; the others are registered codes of the
 * WebSocket protocol. Source: `wire.md`, WebSocket.
 */
export const CLOSE = {
  goingAway: 1001,
  violation: 1008,
  broken: 1011,
  tryLater: 1013,
  /** Sent by a client that has received nothing for long. It connects again. */
  silent: 4000,
  unauthorized: 4001,
  forbidden: 4003,
  notFound: 4004,
} as const;
