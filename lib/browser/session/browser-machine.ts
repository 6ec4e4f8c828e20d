import { type EventOf, machine } from "#lib/session/machine.ts";

const table = {
  idle: { provision: "creating" },
  creating: { cameUp: "ready", failed: "error", abandoned: "expired" },
  ready: { reaped: "expired", lost: "expired", failed: "error" },
  expired: { provision: "creating" },
  error: { provision: "creating" },
} as const;

/**
 * The states of a session's browser. `reaped` is our own ending of it, `lost` a process that went away by itself,
 * `failed` a start or a renderer that broke, `abandoned` a start that nobody waits for any more (the service ended).
 * A refused navigation is no event here: the browser stays `ready`. Source: `wire.md`, Browser.
 */
export const browserMachine = machine("browser", table);

export type BrowserEvent = EventOf<typeof table>;
