import type { EarlierMessages } from "../actions/read-earlier.ts";
import { applyControl, beginControl } from "./apply-control.ts";
import { applyDelta } from "./apply-delta.ts";
import { applyEvent, projectTurnState, removeElicitation } from "./apply-event.ts";
import { mergePlan, mergeRequirements } from "./apply-planning.ts";
import { mergeTestRun } from "./apply-test-run.ts";
import { addRevisionFacts, markShown, mergeVariant, setPublication } from "./apply-variant.ts";
import { mergePage } from "./merge-page.ts";
import type { SessionSnapshot } from "./session-snapshot.ts";
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
  TestRun,
  VariantRevision,
  VariantSummary,
} from "./view-types.ts";

/** Holds the state of the session for one page. Does not depend on React. */
export type SessionStore = {
  getState: () => SessionState;
  /**
   * Calls the listener after changes. Several changes in a row may cause only one call. @returns a function that
   * unsubscribes.
   */
  subscribe: (listener: () => void) => () => void;
  receive: (frame: LiveFrame) => void;
  /**
   * Adds a message that the service has accepted, unless its run has already started. The events about it arrive later.
   */
  addAcceptedMessage: (message: QueuedMessage, runId: string) => void;
  /**
   * Replaces the queue with the list of the service. A message that the service no longer lists stays in the queue if
   * its run has not ended and the message is not in the transcript yet.
   */
  replaceQueue: (queue: QueuedMessage[]) => void;
  /** Removes a queued message that the person has removed. The event about it arrives later. */
  removeQueuedMessage: (requestId: string) => void;
  /** Marks a run as stopping, by this person, until the event about its end arrives. */
  setStopping: (runId: string) => void;
  /** Forgets that this visitor lost control, and why their wish for control had no effect. */
  forgetControlLoss: () => void;
  /** Adds runs that this person stopped on an earlier visit. */
  addOwnStops: (runIds: readonly string[]) => void;
  /** Removes a question that the person has answered. The event about it arrives later. */
  removeElicitation: (elicitationId: string) => void;
  /** Replaces the calls that wait for approval, and the handovers, with the lists of the service. */
  replaceWaiting: (waiting: Partial<Pick<SessionState, "approvals" | "handovers">>) => void;
  /** Replaces the sub-agents with the list of the service. */
  replaceAgents: (agents: AgentView[]) => void;
  /** Updates variants from an answer of the service. Skips a variant if the state contains a newer revision of it. */
  mergeVariants: (variants: VariantSummary[]) => void;
  /**
   * Sets, from a revision that the page has read, how many changes a variant has and whether the live browser shows the
   * variant. Changes nothing if the state already has the number, or has another revision.
   */
  addRevisionFacts: (revision: VariantRevision) => void;
  /** Sets the publication of a variant. The event about it arrives later. */
  setPublication: (key: string, publication: Publication | null) => void;
  /** Sets the variant that the live browser shows. The event about it arrives later. */
  setShownVariant: (key: string | null) => void;
  /** Updates the plan from an answer of the service. Changes nothing if the state contains a newer plan. */
  mergePlan: (plan: Plan) => void;
  /**
   * Updates requirements from an answer of the service. Skips a requirement if the state contains a newer version of
   * it.
   */
  mergeRequirements: (requirements: Requirement[]) => void;
  /**
   * Updates a landing page from an answer of the service. Changes nothing if the state contains a newer version of the
   * page.
   */
  mergePage: (page: LandingPage) => void;
  /**
   * Adds or replaces a test run from an answer of the service. An unfinished version never replaces the ended version.
   */
  mergeTestRun: (testRun: TestRun) => void;
  /** Inserts earlier messages in front of the messages in the state. */
  addEarlier: (earlier: EarlierMessages) => void;
};

/**
 * Creates a store from the page's snapshot.
 *
 * @param schedule runs a callback soon. The page passes a function that waits for the next drawn frame, so that many
 * deltas in a row cause only one render. By default, the callback runs immediately.
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
    addAcceptedMessage: (message, runId) => change(addAccepted(state, message, runId)),
    replaceQueue: (queue) => change(mergeQueue(state, queue)),
    removeQueuedMessage(requestId) {
      const queue = state.queue.filter((message) => message.requestId !== requestId);
      const runs = state.runs.filter((run) => run.requestId !== requestId || run.state !== "pending");
      change({ ...state, queue, runs, turnState: projectTurnState({ ...state, runs, queue }) });
    },
    setStopping: (stoppingRunId) =>
      change({ ...state, stoppingRunId, ownStops: [...state.ownStops, stoppingRunId] }),
    addOwnStops: (runIds) => change({ ...state, ownStops: [...runIds, ...state.ownStops] }),
    forgetControlLoss: () => change({ ...state, controlLoss: null, controlProblem: null }),
    removeElicitation: (elicitationId) => change(removeElicitation(state, elicitationId)),
    replaceWaiting: (waiting) => change({ ...state, ...waiting }),
    replaceAgents: (agents) => change({ ...state, agents }),
    mergeVariants: (variants) =>
      change({ ...state, variants: variants.reduce(mergeVariant, state.variants) }),
    addRevisionFacts: (revision) =>
      change({ ...state, variants: addRevisionFacts(state.variants, revision) }),
    setPublication: (key, publication) =>
      change({ ...state, variants: setPublication(state.variants, key, publication) }),
    setShownVariant: (key) => change({ ...state, variants: markShown(state.variants, key) }),
    mergePlan: (plan) => change(mergePlan(state, plan)),
    mergeRequirements: (requirements) =>
      change({ ...state, requirements: mergeRequirements(state.requirements, requirements) }),
    mergePage: (page) => change({ ...state, pages: mergePage(state.pages, page) }),
    mergeTestRun: (testRun) => change({ ...state, testRuns: mergeTestRun(state.testRuns, testRun) }),
    addEarlier({ messages, hasEarlier }) {
      const existingIds = new Set(state.messages.map(({ id }) => id));
      const earlier = messages.filter(({ id }) => !existingIds.has(id));
      change({ ...state, messages: [...earlier, ...state.messages], hasEarlier });
    },
  };
}

/** Applies one frame of the live socket to the state. Pure. */
function applyFrame(state: SessionState, frame: LiveFrame): SessionState {
  switch (frame.type) {
    case "ready":
      // Assumes that no person has control. If a person has control, the service sends a `control` frame next.
      return { ...state, ...frame.data, ...beginControl(state), stage: null };
    case "watching":
      return { ...state, watching: frame.data.watching };
    case "control":
      return { ...state, ...applyControl(state, frame) };
    case "stage":
      return { ...state, stage: frame.data };
    case "queue":
      return { ...state, queueChanges: state.queueChanges + 1 };
    case "clipboard":
    case "cursor":
    case "pointer":
    case "pong":
    case "control.token":
      return state;
    case "message.delta":
      return applyDelta(state, frame.data);
    default:
      return applyEvent(state, frame.data);
  }
}

/**
 * Merges the queue with the list of the service. Drops messages that are already in the transcript. A message that the
 * service no longer lists stays in the queue if its run has not ended and the message is not in the transcript yet.
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
  const hasStarted =
    state.runs.some((run) => run.requestId === message.requestId && run.state !== "pending") ||
    state.messages.some(({ requestId }) => requestId === message.requestId);
  if (hasStarted) return state;
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
    runs: state.runs.some((existing) => existing.runId === runId) ? state.runs : [...state.runs, run],
    queue: insertQueued(
      state.queue.filter(({ requestId }) => requestId !== message.requestId),
      message,
    ),
  };
}

/**
 * Ranks waiting messages in the order in which the agent gets them: messages that steer the running turn, then messages
 * that interrupt it, then all others.
 */
const RANK: Record<QueuedMessage["mode"], number> = { steer: 0, interrupt: 1, queue: 2 };

function insertQueued(queue: QueuedMessage[], message: QueuedMessage): QueuedMessage[] {
  const after = queue.findLastIndex(({ mode }) => RANK[mode] <= RANK[message.mode]);
  return queue.toSpliced(after + 1, 0, message);
}
