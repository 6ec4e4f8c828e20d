import { type EventOf, machine } from "#lib/session/machine.ts";

const table = {
  idle: { provision: "creating" },
  creating: { cameUp: "ready", failed: "error", abandoned: "expired" },
  ready: { reaped: "expired", lost: "expired", failed: "error" },
  expired: { provision: "creating" },
  error: { provision: "creating" },
} as const;

/**
 * The states of a session's browser and the events that change them. `reaped`: the service ended the browser. `lost`:
 * the browser, the connection to it or its service process ended unexpectedly, or another service process took over.
 * `failed`: a start failed or a renderer crashed. `abandoned`: the session stopped waiting for a place, or the service
 * process ended or another took over during the start. A refused navigation is not an event: the browser stays `ready`.
 */
export const browserMachine = machine("browser", table);

export type BrowserEvent = EventOf<typeof table>;
