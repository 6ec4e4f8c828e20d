import { type ControlView, NO_CONTROL } from "./apply-control.ts";
import type { SessionSnapshot } from "./session-snapshot.ts";
import type { ApprovalView, InboxItem, RunView, Stage, ToolCallView } from "./view-types.ts";

/** A message that the model is writing: the text of the deltas so far. */
export type Draft = {
  messageId: string;
  requestId: string;
  runId: string;
  /** The number of the attempt at this model call. A later attempt replaces the draft. */
  attempt: number;
  text: string;
  reasoning: string;
};

/** The state of the session page: the snapshot with all later events and deltas applied. */
export type SessionState = Omit<SessionSnapshot, "toolCalls"> &
  ControlView & {
    toolCalls: Readonly<Record<string, ToolCallView>>;
    /** The inputs of tool calls whose message is not stored yet, by the id of the call. */
    toolInputs: Readonly<Record<string, unknown>>;
    drafts: Draft[];
    /** How many live connections follow the session; null until the service reports the number. */
    watching: number | null;
    /** What the live browser shows besides its picture; null until the service reports it. */
    stage: Stage | null;
    /** The id of this page's live connection; null until the service accepts the connection. */
    connectionId: string | null;
    /** The calls that wait for a person's approval, oldest first; empty until the page has read the list. */
    approvals: readonly ApprovalView[];
    /** The handovers of the browser that wait for a person, oldest first. */
    handovers: readonly InboxItem[];
    /** The id of the run that a person stopped last on this page; null if a person stopped no run. */
    stoppingRunId: string | null;
    /** The ids of the runs that a person stopped in this browser, newest last. */
    ownStops: readonly string[];
    /**
     * Counts the `queue` frames, which report that the queue changed. The page reads the queue when the number changes.
     */
    queueChanges: number;
    /** Counts the events about sub-agents. The page reads the list of sub-agents when the number changes. */
    agentChanges: number;
    /** Counts the events about variants. The Changes tab shows that it has news when the number rises. */
    variantChanges: number;
    /** Counts the events about previews. The Previews tab shows that it has news when the number rises. */
    previewChanges: number;
    /** Counts the events about requirements. The Requirements tab shows that it has news when the number rises. */
    requirementChanges: number;
    /** Counts the events about landing pages. The Pages tab shows that it has news when the number rises. */
    pageChanges: number;
    /**
     * Counts the events after which files of the workspace may be others: calls of tools that can write, downloads, and
     * changes by people and programs. The Files tab reads the list again when the number changes.
     */
    fileChanges: number;
  };

/** Creates the initial state of a page from its snapshot. */
export const createSessionState = (snapshot: SessionSnapshot): SessionState => ({
  ...snapshot,
  messages: snapshot.messages.toSorted((one, other) => one.seq - other.seq),
  toolCalls: Object.fromEntries(snapshot.toolCalls.map((call) => [call.toolCallId, call])),
  toolInputs: {},
  drafts: [],
  watching: null,
  ...NO_CONTROL,
  stage: null,
  connectionId: null,
  approvals: [],
  handovers: [],
  stoppingRunId: null,
  ownStops: [],
  queueChanges: 0,
  agentChanges: 0,
  variantChanges: 0,
  previewChanges: 0,
  requirementChanges: 0,
  pageChanges: 0,
  fileChanges: 0,
});

/** Whether a run has not ended. */
export const isOpen = (run: RunView): boolean => run.state === "pending" || run.state === "running";

/** Returns the running run; otherwise the next pending run; otherwise the last run. */
export const currentRun = (state: SessionState): RunView | undefined =>
  state.runs.find((run) => run.state === "running") ?? state.runs.find(isOpen) ?? state.runs.at(-1);

/** Whether the run that a person stopped on this page has not ended yet. */
export const isStopping = (state: SessionState): boolean =>
  state.runs.some((run) => run.runId === state.stoppingRunId && isOpen(run));

/**
 * Whether this visitor may direct the agent: send messages, open addresses, and edit and publish its work. False on the
 * page of a sub-agent, because a sub-agent accepts messages only from its parent.
 */
export const mayDirect = ({ role, agent }: Pick<SessionState, "role" | "agent">): boolean =>
  role === "drive" && agent === null;

/** Whether this visitor may create and revoke links: only with the role `drive` and the session's own link. */
export const mayShare = ({ role, hasOwnLink }: Pick<SessionState, "role" | "hasOwnLink">): boolean =>
  role === "drive" && hasOwnLink;

/** Whether this visitor may stop the turn. A visitor who opened a sub-agent's own link may not stop the sub-agent. */
export const mayStop = ({ role, agent }: Pick<SessionState, "role" | "agent">): boolean =>
  role === "drive" && agent?.parent.path !== null;

/** Whether the session has an unfinished request. */
export const isWorking = (state: SessionState): boolean => state.turnState !== "idle";

/**
 * Whether a person's message can join the running turn. A turn that no person started may lack tools; the service then
 * queues the message, so that it gets all of them, unless the turn asks a question.
 */
export function maySteer({ session, runs, elicitations }: SessionState): boolean {
  const running = runs.findLast(({ state }) => state === "running" || state === "pending");
  const lacksTools = session.excludesTools && running !== undefined && running.origin !== "person";
  return !lacksTools || elicitations.length > 0;
}
