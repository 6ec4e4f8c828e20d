import { parentPort } from "node:worker_threads";
import { buildExample } from "#lib/projection/build-example.ts";
import { checkProfile } from "#lib/projection/profile/check-profile.ts";
import { type ProfileName, profiles, type SchemaForm } from "#lib/projection/profile/profile.ts";
import { type Projection, projectSchema } from "#lib/projection/project-schema.ts";
import { type CompiledSchema, compileSchema } from "./compile-schema.ts";
import { describeViolations } from "./describe-violation.ts";
import { listInexact } from "./list-inexact.ts";
import { type ParsedAnswer, parseAnswer } from "./parse-answer.ts";
import { createRecent } from "./recent.ts";
import type { SchemaAnswer, SchemaJob, Violation, WorkerMessage } from "./schema-job.ts";

// The entry point of a worker thread. It runs one job at a time and sends one answer for each. The thread can be
// terminated at any moment.

const SCHEMAS_CACHED = 8;
const compiled = createRecent<CompiledSchema>(SCHEMAS_CACHED);
const projected = createRecent<Projection>(SCHEMAS_CACHED);

type Compiled = Extract<CompiledSchema, { ok: true }>;
type Refused = Extract<SchemaAnswer, { kind: "refused" }>;

const compileText = (text: string): CompiledSchema =>
  compiled.find(text) ?? compiled.add(text, compileSchema(JSON.parse(text)));

function projectText(text: string, profile: ProfileName, form: SchemaForm): Projection {
  const key = `${profile} ${form} ${text}`;
  return projected.find(key) ?? projected.add(key, projectSchema(JSON.parse(text), profiles[profile], form));
}

function run(job: SchemaJob): SchemaAnswer {
  // Only admitted schemas are projected, so the schema is not compiled and checked again.
  if (job.kind === "project") return project(job);
  const schema = compileText(job.schema);
  if (!schema.ok) return { kind: "refused", error: schema.error };
  switch (job.kind) {
    case "admit":
      return admit(schema, job.schema);
    case "validate":
      return validate(schema, JSON.parse(job.value));
    case "judge":
      return checkAnswer(schema, job);
  }
}

function project(job: Extract<SchemaJob, { kind: "project" }>): SchemaAnswer {
  const projection = projectText(job.schema, job.profile, job.form);
  const profile = profiles[job.profile];
  const isStrict = profile.rules !== undefined && checkProfile(projection.schema, profile) === undefined;
  return { kind: "projected", schema: JSON.stringify(projection.schema), isStrict };
}

/** Options for the example values: shallow or deep, with the first or a later branch of each union. */
const EXAMPLES = [{}, { branch: 1 }, { branch: 2, levelsMax: 30 }, { levelsMax: 30 }];

/**
 * Admits a schema, or refuses it if no value can be valid or the validator recurses without end. Validates example
 * values, so that a schema whose validation is too slow exceeds the time limit already at admission.
 */
function admit(schema: Compiled, text: string): SchemaAnswer {
  const { schema: format, hasValue, foldBack } = projectText(text, "openai", "words");
  if (!hasValue) return { kind: "refused", error: NO_VALUE };
  for (const options of EXAMPLES) {
    const folded = foldBack(buildExample(format, options));
    const answer = folded.ok ? validate(schema, folded.value) : undefined;
    if (answer?.kind === "refused" && answer.error === ENDLESS) return answer;
  }
  return { kind: "admitted" };
}

const NO_VALUE =
  "no finite value can be valid: what is required leads back to itself, or to something that is never valid";
const ENDLESS = "refers to itself without end, or the value is nested too deeply";

function checkAnswer(
  schema: Compiled,
  { schema: text, profile, form, answer }: Extract<SchemaJob, { kind: "judge" }>,
): SchemaAnswer {
  const { foldBack, toProjectedPath } = projectText(text, profile, form);
  let parsed: ParsedAnswer;
  try {
    parsed = parseAnswer(answer);
  } catch (error) {
    return { kind: "unreadable", reason: error instanceof RangeError ? "nested too deeply" : "not JSON" };
  }
  const folded = foldBack(parsed.value);
  if (!folded.ok && folded.isText) {
    // The answer has the format that the provider enforces, so the model may correct the text.
    const violation = { path: "", rawPath: folded.path, message: folded.message };
    return { kind: "folded", value: "null", violations: [violation] };
  }
  if (!folded.ok) return { kind: "outside", path: folded.path, message: folded.message };
  const toRawPath = (path: string) => toProjectedPath(path, parsed.value);
  const checked = validate(schema, folded.value);
  if (checked.kind === "refused") return checked;
  const violations = checked.violations.map((each) => ({ ...each, rawPath: toRawPath(each.path) }));
  return {
    kind: "folded",
    value: JSON.stringify(folded.value),
    violations: [...listInexact(folded.value, parsed.inexact, toRawPath), ...violations],
  };
}

function validate(
  { validate }: Compiled,
  value: unknown,
): { kind: "checked"; violations: Violation[] } | Refused {
  try {
    const isValid = validate(value) === true;
    return { kind: "checked", violations: isValid ? [] : describeViolations(validate.errors ?? []) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { kind: "refused", error: ENDLESS };
  }
}

function send(answer?: SchemaAnswer): void {
  const { user, system } = process.threadCpuUsage();
  parentPort?.postMessage({ answer, cpuMs: (user + system) / 1_000 } satisfies WorkerMessage);
}

parentPort?.on("message", (job: SchemaJob) => send(run(job)));
// The first compilation also compiles the meta-schema, which is slow. This call spares the first job that time.
compileSchema({ type: "object" });
send();
