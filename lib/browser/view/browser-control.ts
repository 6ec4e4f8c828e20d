import type { Topic } from "#lib/events/bus/topic.ts";
import type { ControlState } from "./control-state.ts";

/**
 * What this process knows of who has control of each session's browser. The browser hosts decide it; they tell the
 * processes that are connected to them, which tell all others. While no person has control, the agent has it during its
 * turns.
 */
export type BrowserControl = {
  /** Returns the id of the connection that has control; undefined while no person has control. */
  holderOf: (sessionId: string) => string | undefined;
  /** Undefined if no person has had control lately. */
  stateOf: (sessionId: string) => ControlState | undefined;
  /** Calls `listener` each time that the state of the session changes. @returns a function that stops the calls. */
  follow: (sessionId: string, listener: () => void) => () => void;
  /** Applies what a host has told, and tells the other processes if it is new. */
  apply: (state: ControlState) => void;
  /**
   * Applies the list of all sessions of a host in which a person has control, or whose browser is handed over. In its other
   * sessions, control is free.
   */
  applyAll: (hostId: string, held: readonly ControlState[]) => void;
  /** Applies what the session's host has just answered. Undefined if there is no such host: control is then free. */
  settle: (sessionId: string, state: ControlState | undefined) => void;
  /** Notes that a host has ended. Control at it is free. */
  dropHost: (hostId: string) => void;
  /** Calls `listener` when a session's control gets another holder, or none. @returns a function that stops the calls. */
  onHolder: (listener: (state: ControlState) => void) => () => void;
  close: () => void;
};

type ControlMessage =
  | { type: "state"; from: string; state: ControlState }
  /** Asks every process to repeat who has control, as far as it knows. */
  | { type: "ask"; from: string };

/** How long the end of control is remembered. During this time, a late message cannot restore the control. */
const FORGET_MS = 60_000;

type Known = ControlState & { sinceMs: number };
type Control = {
  topic: Topic;
  /** The name of this process. */
  self: string;
  states: Map<string, Known>;
  listeners: Map<string, Set<() => void>>;
  holderListeners: Set<(state: ControlState) => void>;
};

/** Creates the {@link BrowserControl} of this process. */
export function createBrowserControl(topic: Topic, { self = crypto.randomUUID() } = {}): BrowserControl {
  const control: Control = {
    topic,
    self,
    states: new Map(),
    listeners: new Map(),
    holderListeners: new Set(),
  };
  const { states, holderListeners } = control;
  const ask = () => send(control, { type: "ask", from: self });
  // The cast is safe, because only this module writes to the topic.
  const close = topic.subscribe((message) => receive(control, JSON.parse(message) as ControlMessage), ask);
  ask();
  return {
    holderOf: (sessionId) => states.get(sessionId)?.holder?.connectionId,
    stateOf: (sessionId) => states.get(sessionId),
    follow: (sessionId, listener) => follow(control, sessionId, listener),
    apply: (state) => applyNews(control, state),
    applyAll(hostId, held) {
      const sessionIds = new Set(held.map(({ sessionId }) => sessionId));
      free(control, (state) => state.hostId === hostId && !sessionIds.has(state.sessionId));
      for (const state of held) applyNews(control, state);
    },
    settle(sessionId, state) {
      if (state) applyNews(control, state);
      const isOther = (known: ControlState) => known.hostId !== state?.hostId || !isInUse(state);
      free(control, (known) => known.sessionId === sessionId && isOther(known));
    },
    dropHost: (hostId) => free(control, (state) => state.hostId === hostId),
    onHolder(listener) {
      holderListeners.add(listener);
      return () => holderListeners.delete(listener);
    },
    close,
  };
}

const send = ({ topic }: Control, message: ControlMessage) => topic.publish(JSON.stringify(message));

/** Whether a person has control, or the browser is handed over to one. */
const isInUse = ({ holder, isPrivate }: ControlState): boolean => holder !== null || isPrivate;

/** A host numbers its states. The end of control that a process notes has the number of the control. */
function isNewer(state: ControlState, known: ControlState): boolean {
  const frees = !isInUse(state) && isInUse(known);
  if (state.hostId !== known.hostId) return isInUse(state);
  return state.stamp > known.stamp || (state.stamp === known.stamp && frees);
}

/** Applies a state if it is newer than the known one. @returns whether it is. */
function apply({ states, listeners, holderListeners }: Control, state: ControlState): boolean {
  const { sessionId } = state;
  const known = states.get(sessionId);
  if (known && !isNewer(state, known)) return false;
  const nowMs = performance.now();
  states.set(sessionId, { ...state, sinceMs: nowMs });
  for (const [id, each] of states) if (!isInUse(each) && nowMs - each.sinceMs > FORGET_MS) states.delete(id);
  for (const listener of [...(listeners.get(sessionId) ?? [])]) listener();
  if (known?.holder?.connectionId !== state.holder?.connectionId)
    for (const listener of [...holderListeners]) listener(state);
  return true;
}

function applyNews(control: Control, state: ControlState): void {
  if (apply(control, state)) send(control, { type: "state", from: control.self, state });
}

/** Notes the end of control in sessions whose state matches. */
function free(control: Control, matches: (state: ControlState) => boolean): void {
  for (const { sinceMs: _, ...state } of [...control.states.values()])
    if (isInUse(state) && matches(state))
      applyNews(control, {
        ...state,
        holder: null,
        ended: state.holder ? "host" : state.ended,
        isPrivate: false,
      });
}

function receive(control: Control, message: ControlMessage): void {
  if (message.from === control.self) return;
  if (message.type === "state") {
    apply(control, message.state);
    return;
  }
  for (const { sinceMs: _, ...state } of control.states.values())
    if (isInUse(state)) send(control, { type: "state", from: control.self, state });
}

function follow({ listeners }: Control, sessionId: string, listener: () => void): () => void {
  // A new function for each call, so that the same listener can be added twice.
  const entry = () => listener();
  const entries = listeners.get(sessionId) ?? new Set();
  listeners.set(sessionId, entries.add(entry));
  return () => {
    entries.delete(entry);
    if (entries.size === 0 && listeners.get(sessionId) === entries) listeners.delete(sessionId);
  };
}
