import type { ControlHolder, RunView, SessionSnapshot, ToolCallView } from "./view-types.ts";

/** A message that is being written: the text of the deltas so far. */
export type Draft = {
  messageId: string;
  requestId: string;
  runId: string;
  /** Number of the attempt at the model call; a later attempt replaces the draft. */
  attempt: number;
  text: string;
  reasoning: string;
};

/** The state of the session page: the snapshot with all later events and deltas applied. */
export type SessionState = Omit<SessionSnapshot, "toolCalls"> & {
  toolCalls: Readonly<Record<string, ToolCallView>>;
  /** Inputs of tool calls whose message is not stored yet. */
  toolInputs: Readonly<Record<string, unknown>>;
  drafts: Draft[];
  /** How many people have the session open; null until the live connection reports it. */
  watching: number | null;
  /** The person who has control of the browser; null if no person has, or the connection is lost. */
  control: ControlHolder;
  /** Id of this page's live connection; null until the service accepts it. */
  connectionId: string | null;
  /** The run that a person stopped on this page. */
  stoppingRunId: string | null;
  /** Counts the service's reports that the queue changed. The page reads the queue again when it changes. */
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

/** Creates the initial state of a page. */
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

/** Whether a run has not ended. */
export const isOpen = (run: RunView): boolean => run.state === "pending" || run.state === "running";

/** The running run, else the next pending run, else the last run. */
export const currentRun = (state: SessionState): RunView | undefined =>
  state.runs.find((run) => run.state === "running") ?? state.runs.find(isOpen) ?? state.runs.at(-1);

/** Whether a person stopped the running run and it has not ended yet. */
export const isStopping = (state: SessionState): boolean =>
  state.runs.some((run) => run.runId === state.stoppingRunId && isOpen(run));

/** Whether this visitor may send messages and addresses. A sub-agent accepts them only from its parent. */
export const mayDirect = ({ role, agent }: Pick<SessionState, "role" | "agent">): boolean =>
  role === "drive" && agent === null;

/** Whether this visitor may stop the turn. */
export const mayStop = ({ role, agent }: Pick<SessionState, "role" | "agent">): boolean =>
  role === "drive" && agent?.parent.path !== null;

/** Whether the session has a request that has not completed. */
export const isWorking = (state: SessionState): boolean => state.turnState !== "idle";
