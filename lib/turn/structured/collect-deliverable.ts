import type { ModelMessage } from "ai";
import type { Violation } from "#db/schema/index.ts";
import { storable, storableText } from "#db/storable.ts";
import type { Deliverable } from "#lib/events/event.ts";
import { type FaultPoint, faultPoint } from "#lib/faults/fault-point.ts";
import { MODEL_TIMED_OUT, type ModelFailure } from "#lib/model/failure.ts";
import type { ModelUsage } from "#lib/model/usage.ts";
import type { SchemaForm } from "#lib/projection/profile/profile.ts";
import { COLLECTION_STARTED } from "#lib/session/store/follow-up-store.ts";
import { isOpen } from "#lib/session/store/run-store.ts";
import { showPictures } from "../prompt/show-pictures.ts";
import { StaleClaimError } from "../record/claim.ts";
import { lockRunAndSession } from "../record/turn-store.ts";
import { callWithinPlay } from "../run/play-time.ts";
import { applyStep, recordStep, writeEvents } from "../run/record-step.ts";
import { findRecorded, isStopped, type RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { readForm } from "./probe-run.ts";
import { rememberRefusal } from "./remember-refusal.ts";
import { readSchema, type SchemaChecker } from "./schema-checker.ts";
import { callStructured, type StructuredAnswer } from "./structured-call.ts";

/** The recorded outcome of a structured call. */
type Collected =
  | { kind: "ready"; value: unknown; usage: ModelUsage; modelCalls: number }
  | { kind: "invalid"; rawText: string; violations: Violation[]; usage: ModelUsage; modelCalls: number }
  | { kind: "failed"; failure: ModelFailure; rawText?: string; usage?: ModelUsage; modelCalls: number }
  | { kind: "stopped" };

const ASK =
  "Now give the structured result of your work above, in the response format. Use only what you found; do not invent.";

/** Whether the collection of a run's deliverable has begun, in this executor or an earlier one. */
export const hasBegunCollection = (run: RunInPlay): boolean =>
  findRecorded(run, COLLECTION_STARTED) !== undefined;

/**
 * Records that the collection of a run's deliverable begins. After that, the turn reads no more messages: a message
 * that arrives later becomes the next turn. The record is a step, so that this also holds for an executor that resumes
 * the run.
 * Source: `wire.md`, Follow-ups (One collection, one correction per turn).
 *
 * @param mayRead whether the turn can still read an unread message.
 * @returns false if the turn has to read an unread message first; the collection has not begun then.
 * @throws StaleClaimError when the claim is over; nothing is written then.
 */
export async function beginCollection(deps: TurnDeps, run: RunInPlay, mayRead: boolean): Promise<boolean> {
  if (hasBegunCollection(run)) return true;
  const { claim, session } = run;
  const step = { name: COLLECTION_STARTED, output: {} };
  const written = await deps.db.transaction(async (tx) => {
    // Accepting a message also locks the session. So either the write below sees the message, or the code that accepts
    // the message sees this step.
    const locked = await lockRunAndSession(tx, claim.runId);
    if (locked?.epoch !== claim.epoch || !isOpen(locked)) throw new StaleClaimError(claim);
    return writeEvents(tx, claim, session, [], { step, unlessSteered: mayRead });
  });
  if (!written) return false;
  applyStep(run, step, undefined, written.receipt);
  return true;
}

/**
 * Makes the structured call of a turn: a model call whose answer must be JSON in the caller's schema. If the value
 * violates the schema, makes one correction call that shows the model its own JSON and the exact violations. Source:
 * specification, States and transitions.
 */
export async function collectDeliverable(
  deps: TurnDeps,
  run: RunInPlay,
  checker: SchemaChecker,
): Promise<Collected> {
  const collected = await askFor(deps, run, checker, { name: "collect", ask: ASK, point: "collect-sent" });
  if (collected.kind !== "invalid" || isStopped(run)) return collected;
  const list = collected.violations
    .map(({ path, rawPath = path, message }) => `- ${rawPath || "/"}: ${message}`)
    .join("\n");
  const ask = `The result above breaks these rules:\n${list}\n\nGive the whole result again, corrected.`;
  return askFor(deps, run, checker, { name: "correct", ask, point: "correct-sent" });
}

async function askFor(
  deps: TurnDeps,
  run: RunInPlay,
  checker: SchemaChecker,
  { name, ask, point }: { name: string; ask: string; point: FaultPoint },
): Promise<Collected> {
  const recorded = findRecorded<Collected>(run, name);
  if (recorded) return recorded;
  const schema = readSchema(run);
  const question: ModelMessage = { role: "user", content: ask };
  const messages = [...(await showPictures(deps, run.claim.sessionId, run.history.messages)), question];
  await faultPoint(point);
  const { instructions } = run.prompt;
  const form = readForm(run);
  const format = await checker.formatOf(schema, run.session.ownerId, form);
  const answer: StructuredAnswer = (await callWithinPlay(run, deps.settings.playLimitMs, (signal) =>
    callStructured(deps, signal, { instructions, messages, format }),
  )) ?? { kind: "failed", failure: MODEL_TIMED_OUT, modelCalls: 1 };
  if (answer.kind === "stopped") deps.stops.throwIfShuttingDown();
  await faultPoint("collect-answered");
  // The provider may refuse the schema here if the run was interrupted during its probe.
  if (answer.kind === "failed") await rememberRefusal(deps, run, checker, { failure: answer.failure, form });
  const spend = deps.spending.countCall(run, answer.kind === "stopped" ? undefined : answer.usage);
  const collected = await checkAnswer(answer, checker, { schema, ownerId: run.session.ownerId, form });
  const modelMessages: ModelMessage[] =
    answer.kind === "text" ? [question, { role: "assistant", content: storableText(answer.text) }] : [];
  return recordStep<Collected>(deps, run, {
    name,
    output: storable(collected),
    modelMessages,
    spend,
    events: [],
  });
}

async function checkAnswer(
  answer: StructuredAnswer,
  checker: SchemaChecker,
  { schema, ownerId, form }: { schema: Record<string, unknown>; ownerId: string; form: SchemaForm },
): Promise<Collected> {
  if (answer.kind !== "text") return answer;
  const { text: rawText, usage, modelCalls } = answer;
  const fail = (message: string): Collected => ({
    kind: "failed",
    failure: { message, isRetryable: false },
    rawText,
    usage,
    modelCalls,
  });
  const judgement = await checker.checkAnswer(schema, rawText, ownerId, form);
  switch (judgement.kind) {
    case "fits":
      return { kind: "ready", value: judgement.value, usage, modelCalls };
    case "breaks":
      return { kind: "invalid", rawText, violations: judgement.violations, usage, modelCalls };
    case "outside": {
      const { path, message } = judgement;
      return fail(`The model's answer is not of the format it was given: ${path || "/"} ${message}`);
    }
    case "unreadable":
      return fail(`The model's structured answer is ${judgement.reason}.`);
    case "unjudged":
      return fail(judgement.error);
  }
}

/** Converts the outcome of a run's structured calls to its deliverable. */
export function toDeliverable(
  runId: string,
  collected: Exclude<Collected, { kind: "stopped" }>,
): Deliverable {
  if (collected.kind === "ready") return { runId, status: "ready", value: collected.value };
  if (collected.kind === "failed") {
    const { failure, rawText } = collected;
    return { runId, status: "failed", error: failure.message, ...(rawText !== undefined && { rawText }) };
  }
  const { rawText, violations } = collected;
  const list = violations.map(({ path, message }) => `${path || "/"} ${message}`).join("; ");
  return {
    runId,
    status: "failed",
    error: `The result does not match the schema: ${list}`,
    rawText,
    violations,
  };
}
