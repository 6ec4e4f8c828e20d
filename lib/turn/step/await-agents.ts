import { listUnreported } from "#lib/agents/agent-store.ts";
import { cutResult } from "#lib/agents/cut-result.ts";
import { SUBMIT_RESULT } from "#lib/agents/tools/report.ts";
import { type AgentReport, checkAgentWait } from "#lib/agents/wait-for-agents.ts";
import type { NewWait } from "#lib/session/store/wait-store.ts";
import { quoteAsData } from "#lib/tools/quote-as-data.ts";
import { addedMessage } from "../prompt/added-message.ts";
import { parkRun } from "../run/park-run.ts";
import { recordStep } from "../run/record-step.ts";
import { findRecorded, isStopped, type RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";

/** Creates a wait of the run itself between two steps, as opposed to a wait of one of its tool calls. */
export const ownWait = (wait: Pick<NewWait, "kind" | "subjects"> & Partial<NewWait>): NewWait => ({
  until: "any",
  deadlineAt: null,
  createdAt: new Date(),
  ...wait,
  callId: "",
});

const REMINDER =
  "You have ended your turn without a result. Call submit_result with the result of your task now.";

/**
 * Returns the id that marks results of sub-agents as read at this point of the run. After a crash, the run repeats the
 * read with the same id and gets the same results again. `number` is the number of the model call that concluded.
 */
const readerOf = (run: RunInPlay, number: number) => `${run.claim.runId}/end-${number}`;

/**
 * Whether a turn continues although its model has concluded. The turn continues if a sub-agent is live or has a result
 * that the model has not read. The turn of a sub-agent also continues if the sub-agent has not submitted a result and
 * was not reminded yet. At the step limit, a turn never continues.
 *
 * @param number the number of the model call that concluded.
 */
export async function hasMoreToDo(deps: TurnDeps, run: RunInPlay, number: number): Promise<boolean> {
  if (number >= deps.settings.maxSteps) return false;
  if (mayRemind(run)) return true;
  if (!run.session.subAgents) return false;
  return (await listUnreported(deps.db, run.session.id, readerOf(run, number))).length > 0;
}

const mayRemind = (run: RunInPlay): boolean =>
  run.agent?.submission === null &&
  run.prompt.tools.has(SUBMIT_RESULT) &&
  ![...run.outputs.keys()].some((step) => step.startsWith("remind-"));

/**
 * Waits for the live sub-agents of a turn that would end otherwise, and adds their results to the model's history. If
 * the turn itself belongs to a sub-agent that has not submitted a result, the model is reminded once. Source:
 * `wire.md`, Sub-agents.
 *
 * @param number the number of the model call that concluded.
 * @returns `parked` if the run waits, `read` if the model has something new to read, otherwise `none`.
 */
export async function awaitAgents(
  deps: TurnDeps,
  run: RunInPlay,
  number: number,
): Promise<"parked" | "read" | "none"> {
  const { session } = run;
  const reader = readerOf(run, number);
  const name = `agents-${number}`;
  const reminder = `remind-${number}`;
  if (findRecorded(run, name) ?? findRecorded(run, reminder)) return "read";
  const unreported = session.subAgents ? await listUnreported(deps.db, session.id, reader) : [];
  if (unreported.length > 0) {
    const subjects = unreported.filter(({ outcome }) => outcome === null).map((row) => row.sessionId);
    if (
      subjects.length > 0 &&
      (await parkRun(deps, run, [ownWait({ kind: "agents", subjects, until: "all" })]))
    )
      return "parked";
    if (isStopped(run) || run.isSteered) return "none";
    const checked = await checkAgentWait(deps, session.id, {
      agentIds: undefined,
      until: "all",
      reader,
      isLast: true,
    });
    if (checked.kind === "over" && checked.reports.length > 0) {
      await addMessage(deps, run, name, describeEnded(checked.reports));
      return "read";
    }
  }
  if (!mayRemind(run)) return "none";
  await addMessage(deps, run, reminder, REMINDER);
  return "read";
}

/**
 * Maximum bytes of results in one message. It is low, because compaction does not shorten such a message during the
 * turn.
 */
const RESULTS_BYTES_MAX = 12_000;

function describeEnded(reports: AgentReport[]): string {
  const bytesMax = Math.floor(RESULTS_BYTES_MAX / reports.length);
  const shown = reports.map((report) => ({
    ...report,
    ...("result" in report && cutResult(report.result, bytesMax)),
  }));
  const hint = shown.some(({ isResultCut }) => isResultCut)
    ? "\nA result with isResultCut is only its beginning: wait_for_agents with its agentId returns the whole."
    : "";
  return `Your sub-agents have ended. ${quoteAsData("your sub-agents", JSON.stringify(shown, null, 1))}${hint}`;
}

async function addMessage(deps: TurnDeps, run: RunInPlay, name: string, content: string): Promise<void> {
  await recordStep(deps, run, { name, output: {}, modelMessages: [addedMessage(content)], events: [] });
}
