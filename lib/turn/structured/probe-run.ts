import { storable } from "#db/storable.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import type { ModelFailure } from "#lib/model/failure.ts";
import type { ModelUsage } from "#lib/model/usage.ts";
import type { SchemaForm } from "#lib/projection/profile/profile.ts";
import { recordStep } from "../run/record-step.ts";
import { findRecorded, type RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { chooseForm, rememberRefusal } from "./remember-refusal.ts";
import { readSchema, type SchemaChecker } from "./schema-checker.ts";
import { probeFormat } from "./structured-call.ts";

/** The outcome of a run's probe, a request that checks whether the provider accepts the schema. */
type Probed =
  | { kind: "ready"; usage?: ModelUsage }
  | { kind: "failed"; failure: ModelFailure; usage?: ModelUsage }
  | { kind: "stopped" };

const PROBE_STARTED = "probe-started";

/**
 * Returns the form of the schema that a run uses from its probe to its last structured call, whatever other runs learn in
 * the meantime.
 */
export const readForm = (run: RunInPlay): SchemaForm =>
  findRecorded<{ form?: SchemaForm }>(run, PROBE_STARTED)?.form ?? "bounds";

/** Whether the probe of a run has begun, in this executor or an earlier one. */
export const hasBegunProbe = (run: RunInPlay): boolean => findRecorded(run, PROBE_STARTED) !== undefined;

/**
 * Sends the probe of a new run. The start of the probe is recorded before the request is sent, so that it is never sent
 * twice. A run that was interrupted during its probe continues as if the probe had succeeded.
 */
export async function probeRun(deps: TurnDeps, run: RunInPlay, checker: SchemaChecker): Promise<Probed> {
  const recorded = findRecorded<Probed>(run, "probe");
  if (recorded) return recorded;
  if (findRecorded(run, PROBE_STARTED))
    return recordStep<Probed>(deps, run, { name: "probe", output: { kind: "ready" }, events: [] });
  const form = await chooseForm(deps, run, checker);
  const format = await checker.formatOf(readSchema(run), run.session.ownerId, form);
  await recordStep(deps, run, { name: PROBE_STARTED, output: { form }, events: [] });
  await faultPoint("probe-sent");
  const answer = await probeFormat(deps, run.signal, format);
  if (answer.kind === "stopped") deps.stops.throwIfShuttingDown();
  if (answer.kind === "failed") await rememberRefusal(deps, run, checker, { failure: answer.failure, form });
  const output: Probed = answer.kind === "text" ? { kind: "ready", usage: answer.usage } : storable(answer);
  const spend = deps.spending.countCall(run, answer.kind === "stopped" ? undefined : answer.usage);
  const probed = await recordStep<Probed>(deps, run, { name: "probe", output, spend, events: [] });
  await faultPoint("probe-recorded");
  return probed;
}
