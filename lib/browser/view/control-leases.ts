import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { InputGate } from "../browser-service.ts";
import { type AgentScript, createAgentScripts } from "./agent-scripts.ts";
import { createControlActivity } from "./control-activity.ts";
import {
  arrive,
  type ControlLeasesDeps,
  type Entry,
  end,
  follow,
  goAway,
  isPrivate,
  type Lease,
  type Leases,
  openEntry,
  publish,
  release,
  review,
  tell,
  toState,
  use,
} from "./control-entry.ts";
import {
  CONTROL_TIMES,
  type ControlAnswer,
  type ControlRequest,
  type ControlState,
} from "./control-state.ts";
import { createHeldInput } from "./held-input.ts";
import { untilFree } from "./until-free.ts";

/**
 * Who has control of the browsers of this host. A person's control is a lease: input of other connections is dropped,
 * and the agent's scripts are ended. While no person has control, the agent has it during its turns.
 */
export type ControlLeases = {
  /** Carries out a request of a connection. @param via the link to the process of the connection. */
  request: (sessionId: string, request: ControlRequest, via: object) => Promise<ControlAnswer>;
  /**
   * Admits input if its connection has control.
   * @returns a function that decides, when the page can take the input, whether it still may; undefined to drop it.
   */
  admit: (sessionId: string, connectionId: string, via: object) => InputGate | undefined;
  /** Returns the id of the connection that has control, or takes it now. Undefined while no person has control. */
  holderOf: (sessionId: string) => string | undefined;
  stateOf: (sessionId: string) => ControlState | undefined;
  /** Lists the sessions in which a person has control, or whose browser is handed over. */
  list: () => ControlState[];
  /** @see ControlState.isPrivate */
  isPrivate: (sessionId: string) => boolean;
  /** Notes whether the browser of a session is handed over to people. */
  setHandedOver: (sessionId: string, isHandedOver: boolean) => void;
  /** Calls `listener` after each change of a session's control. @returns a function that ends the calls. */
  follow: (sessionId: string, listener: () => void) => () => void;
  /** @see untilFree */
  untilFree: (sessionId: string, timeoutMs: number, signal: AbortSignal) => Promise<boolean>;
  /** Notes that a script of the agent begins, or why it may not. A person who takes control waits for its end. */
  beginScript: (sessionId: string) => AgentScript;
  /** Ends the scripts that run on a session's page. */
  interruptScripts: (sessionId: string, by: string) => void;
  /** Notes that the link of a process has ended: the people whose connections it served are away. */
  forgetLink: (via: object) => void;
  /** Ends the control of a session whose browser is closed or starts at another host. */
  drop: (sessionId: string) => void;
  close: () => void;
};

const SECRET_BYTES = 24;

/** @see ControlLeases */
export function createControlLeases(deps: ControlLeasesDeps): ControlLeases {
  const leases: Leases = {
    deps,
    times: { ...CONTROL_TIMES, ...deps.times },
    nowMs: deps.nowMs ?? (() => performance.now()),
    entries: new Map(),
    listeners: new Map(),
    scripts: createAgentScripts(),
  };
  const { entries, scripts } = leases;
  const shown = {
    holderOf: (sessionId: string) => holderOf(entries.get(sessionId)),
    follow: (sessionId: string, listener: () => void) => follow(leases, sessionId, listener),
  };
  return {
    ...shown,
    async request(sessionId, request, via) {
      const entry = openEntry(leases, sessionId);
      const secret = await carryOut(leases, entry, request, via);
      return { state: toState(leases, entry), secret };
    },
    admit(sessionId, connectionId, via) {
      const entry = entries.get(sessionId);
      const isHolder = entry?.lease?.connectionId === connectionId;
      return entry?.lease && isHolder ? admit(leases, entry, entry.lease, via) : undefined;
    },
    stateOf(sessionId) {
      const entry = entries.get(sessionId);
      return entry && toState(leases, entry);
    },
    list: () =>
      [...entries.values()]
        .filter((entry) => entry.lease || isPrivate(entry))
        .map((entry) => toState(leases, entry)),
    isPrivate(sessionId) {
      const entry = entries.get(sessionId);
      return entry !== undefined && isPrivate(entry);
    },
    setHandedOver(sessionId, isHandedOver) {
      const known = entries.get(sessionId)?.isHandedOver ?? false;
      if (known === isHandedOver) return;
      const entry = openEntry(leases, sessionId);
      entry.isHandedOver = isHandedOver;
      if (isHandedOver && entry.lease) entry.lease.isPrivate = true;
      publish(leases, entry);
    },
    untilFree: (...wait) => untilFree(shown, ...wait),
    beginScript(sessionId) {
      const entry = entries.get(sessionId);
      return scripts.begin(sessionId, entry?.lease?.name ?? entry?.pending?.name);
    },
    interruptScripts: (sessionId, by) => void scripts.interrupt(sessionId, by, leases.times.scriptEndMs),
    forgetLink(via) {
      for (const entry of entries.values())
        if (entry.lease?.via === via && entry.lease.awaySinceMs === undefined)
          goAway(leases, entry, entry.lease);
    },
    drop(sessionId) {
      const entry = entries.get(sessionId);
      if (!entry) return;
      entry.pending = undefined;
      const wasHandedOver = entry.isHandedOver;
      entry.isHandedOver = false;
      tell(leases, entry);
      if (!entry.lease && wasHandedOver) publish(leases, entry);
      end(leases, entry, "host");
      entries.delete(sessionId);
    },
    close() {
      for (const { lease } of entries.values()) clearTimeout(lease?.timer);
    },
  };
}

const holderOf = (entry: Entry | undefined) => entry?.lease?.connectionId ?? entry?.pending?.connectionId;

/** @returns the secret of the new lease, if the connection got control. */
async function carryOut(
  leases: Leases,
  entry: Entry,
  request: ControlRequest,
  via: object,
): Promise<string | null> {
  const { lease } = entry;
  const own = lease?.connectionId === request.connectionId ? lease : undefined;
  switch (request.type) {
    case "take":
      if (!own) return take(leases, entry, request, via);
      use(leases, entry, own, via);
      return null;
    case "resume":
      if (!lease || !isSecretOf(lease, request.secret)) return null;
      return resume(leases, entry, lease, request, via);
    case "keep":
    case "stay":
      if (own && request.type === "keep") own.usedAtMs = leases.nowMs();
      if (own) arrive(leases, entry, own, via);
      return null;
    case "give_back":
      cancelTake(leases, entry, request.connectionId);
      if (own) end(leases, entry, "given_back", { note: request.note });
      return null;
    case "leave":
      cancelTake(leases, entry, request.connectionId);
      if (own && request.reason) end(leases, entry, request.reason);
      else if (own) goAway(leases, entry, own);
      return null;
  }
}

function cancelTake(leases: Leases, entry: Entry, connectionId: string): void {
  if (entry.pending?.connectionId !== connectionId) return;
  entry.pending = undefined;
  tell(leases, entry);
}

/** Gives control to a connection when the agent's script has ended. A newer take replaces one that waits. */
async function take(
  leases: Leases,
  entry: Entry,
  { connectionId, name }: { connectionId: string; name: string },
  via: object,
): Promise<string | null> {
  const { scripts, times } = leases;
  const pending = { connectionId, name };
  entry.pending = pending;
  if (leases.deps.readHandover) {
    await leases.deps.readHandover(entry.sessionId);
    if (entry.pending !== pending) return null;
  }
  if (scripts.areRunning(entry.sessionId)) {
    // Nothing else is told yet, but scripts that want to begin see that a person takes control.
    await scripts.interrupt(entry.sessionId, name, times.scriptEndMs);
    if (entry.pending !== pending) return null;
  }
  entry.pending = undefined;
  const from = entry.lease?.name ?? null;
  if (entry.lease) release(leases, entry, entry.lease, "taken", { takenBy: name });
  const secret = randomBytes(SECRET_BYTES).toString("base64url");
  const lease: Lease = {
    connectionId,
    name,
    secretHash: hash(secret),
    via,
    usedAtMs: leases.nowMs(),
    awaySinceMs: undefined,
    expiry: null,
    timer: undefined,
    held: createHeldInput(),
    activity: createControlActivity(() => leases.deps.readField(entry.sessionId)),
    isPrivate: entry.isHandedOver || entry.lease?.isPrivate === true,
  };
  entry.lease = lease;
  entry.ended = null;
  review(leases, entry, lease);
  leases.deps.onTaken(entry.sessionId, { name, from });
  publish(leases, entry);
  return secret;
}

/** Gives a lease to the new connection of the person who has it. Its secret changes, so that each is used once. */
function resume(
  leases: Leases,
  entry: Entry,
  lease: Lease,
  { connectionId }: { connectionId: string },
  via: object,
): string {
  const secret = randomBytes(SECRET_BYTES).toString("base64url");
  lease.connectionId = connectionId;
  lease.secretHash = hash(secret);
  lease.usedAtMs = leases.nowMs();
  lease.awaySinceMs = undefined;
  lease.expiry = null;
  lease.via = via;
  review(leases, entry, lease);
  publish(leases, entry);
  return secret;
}

const hash = (secret: string) => createHash("sha256").update(secret).digest();
const isSecretOf = ({ secretHash }: Lease, secret: string) => timingSafeEqual(hash(secret), secretHash);

function admit(leases: Leases, entry: Entry, lease: Lease, via: object): InputGate {
  use(leases, entry, lease, via);
  return (passed) => {
    // The lease may have ended while the browser started.
    if (entry.lease !== lease) return false;
    lease.held.record(passed);
    lease.activity.note(passed);
    return true;
  };
}
