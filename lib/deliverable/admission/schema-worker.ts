import { parentPort } from "node:worker_threads";
import { checkProfile } from "../projection/profile/check-profile.ts";
import { type ProfileName, profiles } from "../projection/profile/profile.ts";
import { type Projection, projectSchema } from "../projection/project-schema.ts";
import { type CompiledSchema, compileSchema } from "./compile-schema.ts";
import { describeViolations } from "./describe-violation.ts";
import { createRecent } from "./recent.ts";
import type { SchemaAnswer, SchemaJob, Violation } from "./schema-job.ts";

// The entry of the worker thread: one job at a time, one answer each. It can be ended at any moment.

const keptMax = 8;
const compiled = createRecent<CompiledSchema>(keptMax);
const projected = createRecent<Projection>(keptMax);

const compileText = (text: string): CompiledSchema =>
  compiled.find(text) ?? compiled.keep(text, compileSchema(JSON.parse(text)));

function projectText(text: string, profile: ProfileName): Projection {
  const key = `${profile} ${text}`;
  return projected.find(key) ?? projected.keep(key, projectSchema(JSON.parse(text), profiles[profile]));
}

function answer(job: SchemaJob): SchemaAnswer {
  // Only an admitted schema is projected, and that takes no compiling.
  if (job.kind === "project") {
    const projection = projectText(job.schema, job.profile);
    const profile = profiles[job.profile];
    const isStrict = profile.rules !== undefined && checkProfile(projection.schema, profile) === undefined;
    return { kind: "projected", schema: JSON.stringify(projection.schema), isStrict };
  }
  const schema = compileText(job.schema);
  if (!schema.ok) return { kind: "refused", error: schema.error };
  switch (job.kind) {
    case "admit":
      return { kind: "admitted" };
    case "validate":
      return check(schema, JSON.parse(job.value), (violations) => ({ kind: "checked", violations }));
    case "judge": {
      const { foldBack, toProjectedPath } = projectText(job.schema, job.profile);
      const raw: unknown = JSON.parse(job.value);
      const folded = foldBack(raw);
      if (!folded.ok) return { kind: "outside", path: folded.path, message: folded.message };
      return check(schema, folded.value, (violations) => ({
        kind: "folded",
        value: JSON.stringify(folded.value),
        violations: violations.map((violation) => ({
          ...violation,
          rawPath: toProjectedPath(violation.path, raw),
        })),
      }));
    }
  }
}

function check(
  { validate }: Extract<CompiledSchema, { ok: true }>,
  value: unknown,
  tell: (violations: Violation[]) => SchemaAnswer,
): SchemaAnswer {
  try {
    const isValid = validate(value) === true;
    return tell(isValid ? [] : describeViolations(validate.errors ?? []));
  } catch (error) {
    // The validator's comparison with enumerated objects calls a value's own toString and valueOf.
    if (error instanceof TypeError) return { kind: "refused", error: "cannot be compared with this value" };
    if (!(error instanceof RangeError)) throw error;
    return { kind: "refused", error: "refers to itself without end, or the value is nested too deeply" };
  }
}

parentPort?.on("message", (job: SchemaJob) => parentPort?.postMessage(answer(job)));
// The first meta-schema takes most of what a small schema takes: no job pays for it.
compileSchema({ type: "object" });
parentPort?.postMessage("ready");
