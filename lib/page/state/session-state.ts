import type { ControlHolder, RunView, SessionSnapshot, ToolCallView } from "./view-types.ts";

/** A message while it is written: what the live deltas have brought so far. */
export type Draft = {
  messageId: string;
  requestId: string;
  runId: string;
  /** Which try at the model call this is; a later one replaces it. */
  attempt: number;
  text: string;
  reasoning: string;
};

/** What the session page is drawn from: the snapshot, brought on by events and deltas. */
export type SessionState = Omit<SessionSnapshot, "toolCalls"> & {
  toolCalls: Readonly<Record<string, ToolCallView>>;
  /** Inputs of tool calls whose message is not stored yet. */
  toolInputs: Readonly<Record<string, unknown>>;
  drafts: Draft[];
  /** How many people have the session open; null until the live connection has said so. */
  watching: number | null;
  /** Which person has the controls of the browser; null where none has, or the connection is lost. */
  control: ControlHolder;
  /** This page's live connection; null until it is let in. */
  connectionId: string | null;
  /** The run that a person at this page told to stop. */
  stoppingRunId: string | null;
  /** Rises when the service says that the waiting messages have changed. */
  queueChanges: number;
  /** Counts the events about sub-agents. The page reads their list again when it changes. */
  agentChanges: number;
  /** Counts the events about variants, for the mark on their tab. */
  variantChanges: number;
  /** Counts the events about previews, for the mark on their tab. */
  previewChanges: number;
  /** Counts the events about requirements, for the mark on their tab. */
  requirementChanges: number;
  /** Counts the events about landing pages, for the mark on their tab. */
  pageChanges: number;
};

/** The state a page starts with. */
export const createSessionState = (snapshot: SessionSnapshot): SessionState => ({
  ...snapshot,
  messages: snapshot.messages.toSorted((one, other) => one.seq - other.seq),
  toolCalls: Object.fromEntries(snapshot.toolCalls.map((call) => [call.toolCallId, call])),
  toolInputs: {},
  drafts: [],
  watching: null,
  control: null,
  connectionId: null,
  stoppingRunId: null,
  queueChanges: 0,
  agentChanges: 0,
  variantChanges: 0,
  previewChanges: 0,
  requirementChanges: 0,
  pageChanges: 0,
});

/** Whether a run has yet to end. */
export const isOpen = (run: RunView): boolean => run.state === "pending" || run.state === "running";

/** The run that is being played, else the one that is played next, else the one that ended last. */
export const currentRun = (state: SessionState): RunView | undefined =>
  state.runs.find((run) => run.state === "running") ?? state.runs.find(isOpen) ?? state.runs.at(-1);

/** Whether the run at work was told to stop and has yet to end. */
export const isStopping = (state: SessionState): boolean =>
  state.runs.some((run) => run.runId === state.stoppingRunId && isOpen(run));

/** Whether this visitor may send messages and addresses. A sub-agent takes them from its parent alone. */
export const mayDirect = ({ role, agent }: Pick<SessionState, "role" | "agent">): boolean =>
  role === "drive" && agent === null;

/** Whether this visitor may stop the turn. */
export const mayStop = ({ role, agent }: Pick<SessionState, "role" | "agent">): boolean =>
  role === "drive" && agent?.parent.path !== null;

/** Whether the session has a request that has not completed. */
export const isWorking = (state: SessionState): boolean => state.turnState !== "idle";
