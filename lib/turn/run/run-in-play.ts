import type { WaitEnd } from "#db/schema/unions.ts";
import type { AgentRow } from "#lib/agents/agent-store.ts";
import type { ModelTools } from "#lib/model/calls/model-tool.ts";
import type { ComposedCall, ModelRequest } from "#lib/model/calls/stream-model.ts";
import type { PlanningState } from "#lib/planning/planning-store.ts";
import type { ImportedConversation } from "#lib/session/store/imported-messages-store.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";
import type { MessageRow } from "#lib/session/store/transcript-store.ts";
import type { SkillSummary } from "#lib/skills/session-skills.ts";
import type { Tool } from "#lib/tools/tool.ts";
import type { VariantState } from "#lib/variant/variant-history-store.ts";
import type { History } from "../history/history.ts";
import type { MeteredPrompt, PromptMeter } from "../history/prompt-meter.ts";
import type { Claim } from "../record/claim.ts";
import type { PlayTime } from "./play-time.ts";
import { isShutdown } from "./stop-registry.ts";

/** The part of the prompt that is the same for all model calls of a run. */
export type Prompt = {
  instructions: string;
  tools: ReadonlyMap<string, Tool>;
  /** The definitions of `tools` for the model. */
  modelTools: ModelTools;
};

/** The model call that probably follows the step that is being written. `call` is set when it is composed. */
export type CallAhead = { request: ModelRequest; call: ComposedCall | undefined };

/** A wait of a tool call: when it began, what the call waits for, and how the wait ended (undefined while it lasts). */
type CallWait = { since: Date; subjects: readonly string[]; endedBy: WaitEnd | undefined };

/**
 * A run in the memory of its executor. It is read once, when the run is claimed, and updated with every write. An
 * executor that claims the run later reads it from the database again.
 */
export type RunInPlay = {
  claim: Claim;
  session: SessionRow;
  /** The sub-agent to which the session belongs; undefined for a root session. */
  agent: AgentRow | undefined;
  requestMessages: MessageRow[];
  /** When the run went from `pending` to `running`; null before. */
  startedAt: Date | null;
  /** Outputs of recorded steps, by name. A recorded step is not repeated. */
  outputs: Map<string, unknown>;
  /** The conversation that the model sees. */
  history: History;
  prompt: Prompt;
  /** Whether the prompt has the tools of the session's tool servers. */
  hasRemoteTools?: boolean;
  /** Whether this executor has compared the state of the session with what the model was told. */
  isStateTold?: boolean;
  /** The URL that the session's browser showed when the run was claimed, if it showed one. */
  currentUrl: string | null;
  /** The URL of the page that the session selected when the run was claimed. */
  selectedUrl: string | null;
  /** The variants of the session's tree when the run was claimed. */
  variants: readonly VariantState[];
  /** The plan and the unmet requirements of the session's tree when the run was claimed. */
  planning: PlanningState;
  /** The most recently imported conversations of the session, as of the claim of the run. */
  imports: readonly ImportedConversation[];
  /** The skills that the session was created with. */
  skills: readonly SkillSummary[];
  /** How much time this executor has. */
  time: PlayTime;
  /** When the spent time was last counted, on the clock of `performance.now()`. */
  countedAt: number;
  meter: PromptMeter;
  /** Position of the first step that any run of the request recorded; 0 before the first step. */
  requestFrom: number;
  /** The last used position in the transcript. While a run is open, only its executor assigns positions. */
  messageSeq: number;
  /** Whether a stop was requested, as of the last write. */
  isCancelled: boolean;
  /** Whether a message has joined the turn and is not read yet, as of the last write. */
  isSteered: boolean;
  /** The open and ended waits of the run's tool calls, by call id. A wait of the run itself has an empty id. */
  waits: Map<string, CallWait>;
  /** Calls that an earlier executor began and did not finish. They are not executed again. */
  interruptedCalls: ReadonlySet<string>;
  /** The next model call, which is composed while a step is being written. */
  ahead?: CallAhead | undefined;
  /** Aborts when the run has to stop at once, or when the process ends. */
  signal: AbortSignal;
};

/** Returns the id of the session whose browser a run works on. */
export const browserSessionOf = ({ agent, session }: Pick<RunInPlay, "agent" | "session">): string =>
  agent?.browserSessionId ?? session.id;

/** Returns the id of the root session of the tree that a run belongs to. */
export const rootSessionOf = ({ agent, session }: Pick<RunInPlay, "agent" | "session">): string =>
  agent?.rootSessionId ?? session.id;

/** Whether the run has to end as cancelled. The end of the process also aborts the signal, but does not cancel the run. */
export const isStopped = ({ isCancelled, signal }: RunInPlay): boolean =>
  isCancelled || (signal.aborted && !isShutdown(signal.reason));

/** Returns the prompt that the next model call would send, in the form that the prompt meter counts. */
export const meteredPrompt = ({ prompt, history }: RunInPlay): MeteredPrompt => ({
  instructions: prompt.instructions,
  tools: prompt.modelTools,
  messages: history.messages,
});

/**
 * Returns the output of a step that this executor or an earlier one has recorded; undefined if the step is not
 * recorded.
 */
export const findRecorded = <Output>(run: RunInPlay, name: string): Output | undefined =>
  // The cast is safe because all steps with the same name have outputs of the same type.
  run.outputs.get(name) as Output | undefined;

/**
 * Returns the number of a run's current model call. It is the highest number in the names of recorded model and steer
 * steps.
 */
export function currentCallNumber({ outputs }: RunInPlay): number {
  let place = 1;
  for (const name of outputs.keys())
    place = Math.max(place, Number(/^(?:model|steer)-(\d+)/.exec(name)?.[1] ?? 1));
  return place;
}
