import type { ModelMessage } from "ai";
import type { Violation } from "#db/schema/index.ts";
import type { SchemaChecker as Checker } from "#lib/deliverable/admission/create-schema-checker.ts";
import type { Deliverable } from "#lib/events/event.ts";
import { faultPoint } from "#lib/events/fault-point.ts";
import type { ModelFailure } from "#lib/model/failure.ts";
import type { ModelUsage } from "#lib/model/usage.ts";
import { recordStep } from "./record-step.ts";
import { findRecorded, isStopped, type RunInPlay } from "./run-in-play.ts";
import { showPictures } from "./show-pictures.ts";
import { storable, storableText } from "./storable.ts";
import { callStructured, type StructuredAnswer } from "./structured-call.ts";
import type { TurnDeps } from "./turn-deps.ts";

/** What of callers' schemas a turn needs; all of it is done off the event loop. */
export type SchemaChecker = Pick<Checker, "formatOf" | "judgeAnswer">;

/** What a structured call left in its row. */
export type Collected =
  | { kind: "ready"; value: unknown; usage: ModelUsage }
  | { kind: "invalid"; rawText: string; violations: Violation[]; usage: ModelUsage }
  | { kind: "failed"; failure: ModelFailure; rawText?: string; usage?: ModelUsage }
  | { kind: "stopped" };

const ASK =
  "Now give the structured result of your work above, in the response format. Use only what you found; do not invent.";

/**
 * Makes the structured call of a turn and, where its value breaks the caller's schema, the one correction, in which the
 * model is shown its own JSON and the exact violations. Source: specification, States and transitions.
 *
 * @param number of the model call that ended the work: a steer may make a turn go on, and be collected once more.
 */
export async function collectDeliverable(
  turn: TurnDeps,
  run: RunInPlay,
  checker: SchemaChecker,
  number: number,
): Promise<Collected> {
  const collected = await askFor(turn, run, checker, { name: `collect-${number}`, ask: ASK, point: "K17" });
  if (collected.kind !== "invalid" || isStopped(run)) return collected;
  const list = collected.violations
    .map(({ path, rawPath = path, message }) => `- ${rawPath || "/"}: ${message}`)
    .join("\n");
  const ask = `The result above breaks these rules:\n${list}\n\nGive the whole result again, corrected.`;
  return askFor(turn, run, checker, { name: `correct-${number}`, ask, point: "K19" });
}

async function askFor(
  turn: TurnDeps,
  run: RunInPlay,
  checker: SchemaChecker,
  { name, ask, point }: { name: string; ask: string; point: string },
): Promise<Collected> {
  const recorded = findRecorded<Collected>(run, name);
  if (recorded) return recorded;
  const schema = readSchema(run);
  const question: ModelMessage = { role: "user", content: ask };
  const messages = [...(await showPictures(turn, run.claim.sessionId, run.history.messages)), question];
  await faultPoint(point);
  const { instructions } = run.prompt;
  const format = await checker.formatOf(schema);
  const answer = await callStructured(turn, run.signal, { instructions, messages, format });
  if (answer.kind === "stopped") turn.stops.throwIfShuttingDown();
  await faultPoint("K18");
  const collected = await judge(answer, schema, checker);
  const modelMessages: ModelMessage[] =
    answer.kind === "text" ? [question, { role: "assistant", content: storableText(answer.text) }] : [];
  return recordStep<Collected>(turn, run, { name, output: storable(collected), modelMessages, events: [] });
}

async function judge(
  answer: StructuredAnswer,
  schema: Record<string, unknown>,
  checker: SchemaChecker,
): Promise<Collected> {
  if (answer.kind !== "text") return answer;
  const { text: rawText, usage } = answer;
  const fail = (message: string): Collected => ({
    kind: "failed",
    failure: { message, isRetryable: false },
    rawText,
    usage,
  });
  let raw: unknown;
  try {
    // What is checked is what will be stored.
    raw = storable<unknown>(JSON.parse(rawText));
  } catch (error) {
    const how = error instanceof RangeError ? "nested too deeply" : "not JSON";
    return fail(`The model's structured answer is ${how}.`);
  }
  const judgement = await checker.judgeAnswer(schema, raw);
  switch (judgement.kind) {
    case "fits":
      return { kind: "ready", value: judgement.value, usage };
    case "breaks":
      return { kind: "invalid", rawText, violations: judgement.violations, usage };
    case "outside": {
      const { path, message } = judgement;
      return fail(`The model's answer is not of the format it was given: ${path || "/"} ${message}`);
    }
    case "unjudged":
      return fail(judgement.error);
  }
}

/** The deliverable that a run's structured calls came to. */
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

/** The caller's schema. @throws for a session without one: a bug of the caller. */
export function readSchema({ session }: RunInPlay): Record<string, unknown> {
  if (!session.outputSchema) throw new Error(`session ${session.id} has no output schema`);
  return session.outputSchema;
}
