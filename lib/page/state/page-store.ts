import type { EarlierMessages } from "../calls/read-earlier.ts";
import { applyDelta } from "./apply-delta.ts";
import { applyEvent, dropElicitation, projectTurnState } from "./apply-event.ts";
import { mergePlan, mergeRequirements } from "./apply-planning.ts";
import { mergeTestRun } from "./apply-test-run.ts";
import { markShown, mergeVariant, noteRead, setPublication } from "./apply-variant.ts";
import { mergePage } from "./merge-page.ts";
import { createSessionState, isOpen, type SessionState } from "./session-state.ts";
import type {
  AgentView,
  LandingPage,
  LiveFrame,
  Plan,
  Publication,
  QueuedMessage,
  Requirement,
  RunView,
  SessionSnapshot,
  TestRun,
  VariantRevision,
  VariantSummary,
} from "./view-types.ts";

/** The session as one page sees it, for any view library: read, subscribe, feed. */
export type SessionStore = {
  getState: () => SessionState;
  /** Calls back after changes, at most once per `schedule`; returns the way to stop. */
  subscribe: (listener: () => void) => () => void;
  receive: (frame: LiveFrame) => void;
  /** Takes note of a message that the service has just accepted, before its events arrive. */
  noteAccepted: (message: QueuedMessage, runId: string) => void;
  /** Takes over the queue as the service lists it. */
  replaceQueue: (queue: QueuedMessage[]) => void;
  /** Takes note of a queued message that was taken back, before its event arrives. */
  noteRemoved: (requestId: string) => void;
  /** Takes note of a run that was told to stop, until its end arrives. */
  noteStopping: (runId: string) => void;
  /** Takes note of an answered question, before its event arrives. */
  noteElicitationAnswered: (elicitationId: string) => void;
  /** Takes over the sub-agents as the service lists them. */
  replaceAgents: (agents: AgentView[]) => void;
  /** Updates variants from an answer of the service, unless newer revisions are known. */
  mergeVariants: (variants: VariantSummary[]) => void;
  /** Adds the facts of a revision that was read: number of changes, and whether it is shown. */
  noteRevision: (revision: VariantRevision) => void;
  /** Sets what of a variant is published, before the event arrives. */
  notePublication: (key: string, publication: Publication | null) => void;
  /** Sets the variant that the live browser shows, before the event arrives. */
  noteShownVariant: (key: string | null) => void;
  /** Takes over a plan from an answer of the service, unless a newer one is known. */
  notePlan: (plan: Plan) => void;
  /** Takes over requirements from an answer of the service, unless newer ones are known. */
  noteRequirements: (requirements: Requirement[]) => void;
  /** Updates a landing page from an answer of the service, before the event arrives. */
  notePage: (page: LandingPage) => void;
  /** Adds a test run from an answer of the service, before its event arrives. */
  noteTestRun: (testRun: TestRun) => void;
  /** Puts messages from before the known ones in their place. */
  addEarlier: (earlier: EarlierMessages) => void;
};

/**
 * Makes a store from the page's snapshot.
 *
 * @param schedule runs a callback soon; a browser passes `requestAnimationFrame`, so that a burst of deltas is one draw.
 */
export function createSessionStore(
  snapshot: SessionSnapshot,
  schedule: (callback: () => void) => void = (callback) => callback(),
): SessionStore {
  let state = createSessionState(snapshot);
  let isScheduled = false;
  const listeners = new Set<() => void>();

  function change(next: SessionState): void {
    if (next === state) return;
    state = next;
    if (isScheduled) return;
    isScheduled = true;
    schedule(() => {
      isScheduled = false;
      for (const listener of listeners) listener();
    });
  }

  return {
    getState: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    receive: (frame) => change(applyFrame(state, frame)),
    noteAccepted: (message, runId) => change(addAccepted(state, message, runId)),
    replaceQueue: (queue) => change(mergeQueue(state, queue)),
    noteRemoved(requestId) {
      const queue = state.queue.filter((message) => message.requestId !== requestId);
      const runs = state.runs.filter((run) => run.requestId !== requestId || run.state !== "pending");
      change({ ...state, queue, runs, turnState: projectTurnState({ ...state, runs, queue }) });
    },
    noteStopping: (stoppingRunId) => change({ ...state, stoppingRunId }),
    noteElicitationAnswered: (elicitationId) => change(dropElicitation(state, elicitationId)),
    replaceAgents: (agents) => change({ ...state, agents }),
    mergeVariants: (variants) =>
      change({ ...state, variants: variants.reduce(mergeVariant, state.variants) }),
    noteRevision: (revision) => change({ ...state, variants: noteRead(state.variants, revision) }),
    notePublication: (key, publication) =>
      change({ ...state, variants: setPublication(state.variants, key, publication) }),
    noteShownVariant: (key) => change({ ...state, variants: markShown(state.variants, key) }),
    notePlan: (plan) => change(mergePlan(state, plan)),
    noteRequirements: (requirements) =>
      change({ ...state, requirements: mergeRequirements(state.requirements, requirements) }),
    notePage: (page) => change({ ...state, pages: mergePage(state.pages, page) }),
    noteTestRun: (testRun) => change({ ...state, testRuns: mergeTestRun(state.testRuns, testRun) }),
    addEarlier({ messages, hasEarlier }) {
      const known = new Set(state.messages.map(({ id }) => id));
      const earlier = messages.filter(({ id }) => !known.has(id));
      change({ ...state, messages: [...earlier, ...state.messages], hasEarlier });
    },
  };
}

/** Brings the state on by one frame of the live socket. Pure. */
function applyFrame(state: SessionState, frame: LiveFrame): SessionState {
  switch (frame.type) {
    case "ready":
      // If somebody has control, a frame that says so follows.
      return { ...state, ...frame.data, control: null };
    case "watching":
      return { ...state, watching: frame.data.watching };
    case "control":
      return { ...state, control: frame.data.holder };
    case "queue":
      return { ...state, queueChanges: state.queueChanges + 1 };
    case "cursor":
    case "pointer":
    case "pong":
      return state;
    case "message.delta":
      return applyDelta(state, frame.data);
    default:
      return applyEvent(state, frame.data);
  }
}

/**
 * The listed queue, without messages whose turn has begun meanwhile, and with accepted ones that are no longer listed
 * because their turn is about to begin: their stored message takes their place.
 */
function mergeQueue(state: SessionState, listed: QueuedMessage[]): SessionState {
  const isStored = (requestId: string) => state.messages.some((message) => message.requestId === requestId);
  const starting = state.queue.filter(
    ({ requestId }) =>
      !listed.some((message) => message.requestId === requestId) &&
      state.runs.some((run) => run.requestId === requestId && isOpen(run)),
  );
  const queue = [...starting, ...listed].filter(({ requestId }) => !isStored(requestId));
  return { ...state, queue, turnState: projectTurnState({ ...state, queue }) };
}

function addAccepted(state: SessionState, message: QueuedMessage, runId: string): SessionState {
  const isKnown =
    state.runs.some((run) => run.requestId === message.requestId && run.state !== "pending") ||
    state.messages.some(({ requestId }) => requestId === message.requestId);
  if (isKnown) return state;
  const run: RunView = {
    runId,
    requestId: message.requestId,
    attempt: 1,
    origin: "person",
    state: "pending",
    error: null,
    pageError: null,
    notBefore: null,
    startedAt: null,
    endedAt: null,
  };
  return {
    ...state,
    turnState: state.turnState === "idle" ? "running" : state.turnState,
    runs: state.runs.some((known) => known.runId === runId) ? state.runs : [...state.runs, run],
    queue: insertQueued(
      state.queue.filter(({ requestId }) => requestId !== message.requestId),
      message,
    ),
  };
}

/** Which messages the agent gets first: those for the turn at work, then those that end it, then the others. */
const RANK: Record<QueuedMessage["mode"], number> = { steer: 0, interrupt: 1, queue: 2 };

function insertQueued(queue: QueuedMessage[], message: QueuedMessage): QueuedMessage[] {
  const after = queue.findLastIndex(({ mode }) => RANK[mode] <= RANK[message.mode]);
  return queue.toSpliced(after + 1, 0, message);
}
