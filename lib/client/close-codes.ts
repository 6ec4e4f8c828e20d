/**
 * Close codes of a live connection. Codes from 4000 are defined by the service, the others by RFC 6455. Source:
 * `wire.md`, WebSocket.
 */
export const CLOSE = {
  goingAway: 1001,
  violation: 1008,
  broken: 1011,
  tryLater: 1013,
  unauthorized: 4001,
  forbidden: 4003,
  notFound: 4004,
} as const;
