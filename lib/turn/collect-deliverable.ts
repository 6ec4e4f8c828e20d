import type { ModelMessage } from "ai";
import type { Deliverable } from "#lib/events/event.ts";
import { faultPoint } from "#lib/events/fault-point.ts";
import type { ModelFailure } from "#lib/model/failure.ts";
import type { ModelUsage } from "#lib/model/usage.ts";
import type { Claim } from "./claim.ts";
import { settleCalls } from "./compose-history.ts";
import { prepareRun } from "./prepare-run.ts";
import { findRecorded, type Recorded, recordStep } from "./record-step.ts";
import { showPictures } from "./show-pictures.ts";
import { storable, storableText } from "./storable.ts";
import { callStructured, probeFormat, type StructuredAnswer } from "./structured-call.ts";
import type { TurnDeps } from "./turn-deps.ts";

/** A violation of the caller's schema, by JSON pointer. */
export type Violation = { path: string; message: string };

/** Checks values against the caller's original schema, off the event loop. */
export type SchemaChecker = {
  validateValue: (
    schema: Record<string, unknown>,
    value: unknown,
  ) => Promise<{ valid: true } | { valid: false; violations: Violation[] } | { valid: false; error: string }>;
};

/** What a structured call left in its row. */
type Collected =
  | { kind: "ready"; value: unknown; usage: ModelUsage }
  | { kind: "invalid"; rawText: string; violations: Violation[]; usage: ModelUsage }
  | { kind: "failed"; failure: ModelFailure; rawText?: string; usage?: ModelUsage }
  | { kind: "stopped" };

/** What the engine is told of it: the content stays in our rows. */
export type CollectStep =
  | { kind: "ready"; usage?: ModelUsage }
  | { kind: "invalid" | "stopped" }
  | { kind: "failed"; failure: ModelFailure };

const ASK =
  "Now give the structured result of your work above, in the response format. Use only what you found; do not invent.";

/**
 * Makes the probe of a new run. Its start is recorded before it is sent, so that neither a resume nor a retry of the
 * step repeats it; a run interrupted in its probe goes on without one.
 */
export async function probeRun(turn: TurnDeps, claim: Claim): Promise<Recorded<CollectStep>> {
  const done = await findRecorded<CollectStep>(turn, claim, "probe");
  if (done) return done;
  const wasStarted = await findRecorded(turn, claim, "probe-started");
  if (wasStarted)
    return recordStep<CollectStep>(turn, claim, "probe", async () => ({ output: { kind: "ready" } }));
  await recordStep(turn, claim, "probe-started", async () => ({ output: {} }));
  await faultPoint("K06");
  const answer = await probeFormat(turn, claim.runId, await readSchema(turn, claim));
  if (answer.kind === "stopped") turn.stops.throwIfShuttingDown();
  const recorded = await recordStep<CollectStep>(turn, claim, "probe", async () => {
    if (answer.kind === "text") return { output: { kind: "ready", usage: answer.usage } };
    return { output: answer.kind === "failed" ? storable(answer) : answer };
  });
  await faultPoint("K07");
  return recorded;
}

/** Makes the structured call of a turn, and judges what came back. */
export async function collectDeliverable(
  turn: TurnDeps,
  claim: Claim,
  checker: SchemaChecker,
): Promise<Recorded<CollectStep>> {
  return askFor(turn, claim, checker, "collect", ASK);
}

/** Makes the one correction call: the model is shown its own JSON and the exact violations. */
export async function correctDeliverable(
  turn: TurnDeps,
  claim: Claim,
  checker: SchemaChecker,
): Promise<Recorded<CollectStep>> {
  const collected = await findRecorded<Collected>(turn, claim, "collect");
  if (collected?.output.kind !== "invalid") throw new Error(`run ${claim.runId} has nothing to correct`);
  const list = collected.output.violations
    .map(({ path, message }) => `- ${path || "/"}: ${message}`)
    .join("\n");
  return askFor(
    turn,
    claim,
    checker,
    "correct",
    `The result above breaks these rules:\n${list}\n\nGive the whole result again, corrected.`,
  );
}

async function askFor(
  turn: TurnDeps,
  claim: Claim,
  checker: SchemaChecker,
  name: string,
  ask: string,
): Promise<Recorded<CollectStep>> {
  const done = await findRecorded<Collected>(turn, claim, name);
  if (done) return { ...done, output: summarise(done.output) };
  const schema = await readSchema(turn, claim);
  const { instructions } = await prepareRun(turn, claim);
  const history = settleCalls(await turn.conversations.read(claim.sessionId, claim.runId));
  const question: ModelMessage = { role: "user", content: ask };
  const messages = [...(await showPictures(turn, claim.sessionId, history)), question];
  await faultPoint(name === "collect" ? "K17" : "K19");
  const answer = await callStructured(turn, claim.runId, { instructions, messages, schema });
  if (answer.kind === "stopped") turn.stops.throwIfShuttingDown();
  await faultPoint("K18");
  const collected = await judge(answer, schema, checker);
  const modelMessages: ModelMessage[] =
    answer.kind === "text" ? [question, { role: "assistant", content: storableText(answer.text) }] : [];
  const recorded = await recordStep<Collected>(turn, claim, name, async () => ({
    output: storable(collected),
    modelMessages,
  }));
  return { ...recorded, output: summarise(recorded.output) };
}

async function judge(
  answer: StructuredAnswer,
  schema: Record<string, unknown>,
  checker: SchemaChecker,
): Promise<Collected> {
  if (answer.kind !== "text") return answer;
  const { text, usage } = answer;
  let value: unknown;
  try {
    // What is checked is what will be stored.
    value = storable<unknown>(JSON.parse(text));
  } catch {
    return {
      kind: "failed",
      failure: { message: "The model's structured answer is not JSON.", isRetryable: false },
      rawText: text,
      usage,
    };
  }
  const verdict = await checker.validateValue(schema, value);
  if (verdict.valid) return { kind: "ready", value, usage };
  if ("violations" in verdict)
    return { kind: "invalid", rawText: text, violations: verdict.violations.slice(0, 50), usage };
  return { kind: "failed", failure: { message: verdict.error, isRetryable: false }, rawText: text, usage };
}

const summarise = (collected: Collected): CollectStep =>
  collected.kind === "failed" ? { kind: "failed", failure: collected.failure } : { kind: collected.kind };

/** The deliverable that a run's structured calls came to. */
export async function readCollected(turn: TurnDeps, claim: Claim): Promise<Deliverable> {
  const step =
    (await findRecorded<Collected>(turn, claim, "correct")) ??
    (await findRecorded<Collected>(turn, claim, "collect"));
  const { runId } = claim;
  switch (step?.output.kind) {
    case "ready":
      return { runId, status: "ready", value: step.output.value };
    case "invalid": {
      const list = step.output.violations.map(({ path, message }) => `${path || "/"} ${message}`).join("; ");
      return {
        runId,
        status: "failed",
        error: `The result does not match the schema: ${list}`,
        rawText: step.output.rawText,
      };
    }
    case "failed": {
      const { failure, rawText } = step.output;
      return { runId, status: "failed", error: failure.message, ...(rawText !== undefined && { rawText }) };
    }
    default:
      return { runId, status: "failed", error: "the run ended without a result" };
  }
}

async function readSchema(turn: TurnDeps, claim: Claim): Promise<Record<string, unknown>> {
  const { session } = await prepareRun(turn, claim);
  if (!session.outputSchema) throw new Error(`session ${claim.sessionId} has no output schema`);
  return session.outputSchema;
}
