import type { LiveConnection } from "#lib/client/live-connection.ts";

/** The token with which this tab gets control of the browser back after a lost connection or a reload. */
type ControlSeat = {
  /** Stores the token of the control that this tab has. */
  keep: (token: string) => void;
  /** Asks for the control that this tab had, if any. */
  resume: (connection: Pick<LiveConnection, "send">) => void;
};

/** Creates the seat of this tab. A tab that is not a reload of itself, such as a copy, starts without a token. */
export function createControlSeat(sessionId: string): ControlSeat {
  const key = `control:${sessionId}`;
  let token = isReload() ? read(key) : undefined;
  return {
    keep(given) {
      token = given;
      write(key, given);
    },
    resume(connection) {
      if (token !== undefined) connection.send({ type: "control.resume", token });
    },
  };
}

function isReload(): boolean {
  if (typeof performance.getEntriesByType !== "function") return false;
  const [entry] = performance.getEntriesByType("navigation");
  return entry !== undefined && "type" in entry && entry.type === "reload";
}

/** The storage of the tab. Undefined on the server, and if the browser's settings forbid it. */
function storage(): Storage | undefined {
  try {
    return globalThis.sessionStorage;
  } catch {
    return undefined;
  }
}

const read = (key: string): string | undefined => storage()?.getItem(key) ?? undefined;
const write = (key: string, token: string): void => storage()?.setItem(key, token);
