import type { WaitEnd } from "#db/schema/unions.ts";
import type { AgentRow } from "#lib/agents/agent-store.ts";
import type { VariantSummary } from "#lib/events/event.ts";
import type { PlanningState } from "#lib/planning/planning-store.ts";
import type { SessionRow } from "#lib/session/session-store.ts";
import type { ImportedConversation } from "#lib/session/transcript/imported-messages-store.ts";
import type { MessageRow } from "#lib/session/transcript/transcript-store.ts";
import type { SkillSummary } from "#lib/skills/session-skills.ts";
import type { MeteredPrompt, PromptMeter } from "../compaction/prompt-meter.ts";
import type { Prompt } from "../prompt/compose-prompt.ts";
import type { History } from "../prompt/history.ts";
import type { Claim } from "../record/claim.ts";
import { isShutdown } from "./stop-registry.ts";

/** A wait of a call: since when, for what, and how it ended if it has. */
type CallWait = { since: Date; subjects: readonly string[]; endedBy: WaitEnd | undefined };

/**
 * A run as its executor holds it: what its steps need is read once, when the run is claimed, and kept up with every
 * write. Whoever claims it anew starts from the rows.
 */
export type RunInPlay = {
  claim: Claim;
  session: SessionRow;
  /** The sub-agent that the session is. */
  agent: AgentRow | undefined;
  /** The messages that its request brought. */
  asked: MessageRow[];
  /** When the run went from `pending` to `running`; null before. */
  startedAt: Date | null;
  /** Recorded steps by name: what was done is not done again. */
  outputs: Map<string, unknown>;
  /** What the model has seen. */
  history: History;
  prompt: Prompt;
  /** The address that the session's browser showed when the run was claimed, if it showed one. */
  currentUrl: string | null;
  /** The variants of its tree when the run was claimed. */
  variants: readonly VariantSummary[];
  /** The plan and the unmet requirements of its tree when the run was claimed. */
  planning: PlanningState;
  /** The conversations that were imported into the session last, when the run was claimed. */
  imports: readonly ImportedConversation[];
  /** The skills that the session was created with. */
  skills: readonly SkillSummary[];
  /** When its time at work was counted last, on the clock of `performance.now()`. */
  countedAt: number;
  /** Counts the tokens of its prompts. */
  meter: PromptMeter;
  /** Position of the first step of its request, of whichever run; 0 until there is one. */
  requestFrom: number;
  /** Last place given in the transcript; while a run is open, nobody else gives any. */
  messageSeq: number;
  /** Somebody asked the run to stop, as of the last write. */
  isCancelled: boolean;
  /** A message was put into the turn and is not yet read, as of the last write. */
  isSteered: boolean;
  /** What its tool calls wait for or have waited for, by call id; the run itself has the empty id. */
  waits: Map<string, CallWait>;
  /** Calls that an earlier executor began and did not finish. They are not executed again. */
  begun: ReadonlySet<string>;
  /** Fires when the run is to stop at once, and when the process ends. */
  signal: AbortSignal;
};

/** The session whose browser a run works on. */
export const browserSessionOf = ({ agent, session }: Pick<RunInPlay, "agent" | "session">): string =>
  agent?.browserSessionId ?? session.id;

/** The root of the tree that a run belongs to. */
export const rootSessionOf = ({ agent, session }: Pick<RunInPlay, "agent" | "session">): string =>
  agent?.rootSessionId ?? session.id;

/** Whether the run is to end as cancelled; a process that ends fires the signal too, and stops no turn. */
export const isStopped = ({ isCancelled, signal }: RunInPlay): boolean =>
  isCancelled || (signal.aborted && !isShutdown(signal.reason));

/** What the next model call would be sent, for the meter. */
export const meteredPrompt = ({ prompt, history }: RunInPlay): MeteredPrompt => ({
  instructions: prompt.instructions,
  tools: prompt.modelTools,
  messages: history.messages,
});

/** The value of a step that was recorded before, by this executor or one that is gone. */
export const findRecorded = <Output>(run: RunInPlay, name: string): Output | undefined =>
  // Each name is written by one function, which knows the type of its output.
  run.outputs.get(name) as Output | undefined;

/** The number of the model call at which a run stands: the last that was recorded, or that a steer came before. */
export function findPlace({ outputs }: RunInPlay): number {
  let place = 1;
  for (const name of outputs.keys())
    place = Math.max(place, Number(/^(?:model|steer)-(\d+)/.exec(name)?.[1] ?? 1));
  return place;
}
