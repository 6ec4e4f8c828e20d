/** Why a live connection was closed: 4000 and above are the service's, the others RFC 6455's. Source: `wire.md`, WebSocket. */
export const CLOSE = {
  goingAway: 1001,
  violation: 1008,
  broken: 1011,
  tryLater: 1013,
  unauthorized: 4001,
  forbidden: 4003,
  notFound: 4004,
} as const;
