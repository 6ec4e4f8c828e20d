import { parentPort } from "node:worker_threads";
import { type CompiledSchema, compileSchema } from "./compile-schema.ts";
import { describeViolations } from "./describe-violation.ts";
import type { SchemaAnswer, SchemaJob } from "./schema-job.ts";

// The entry of the worker thread: one job at a time, one answer each. It can be ended at any moment.

const compiledMax = 8;
const compiled = new Map<string, CompiledSchema>();

function compileText(text: string): CompiledSchema {
  const known = compiled.get(text) ?? compileSchema(JSON.parse(text));
  compiled.delete(text);
  compiled.set(text, known);
  const [oldest] = compiled.keys();
  if (compiled.size > compiledMax && oldest !== undefined) compiled.delete(oldest);
  return known;
}

function answer(job: SchemaJob): SchemaAnswer {
  const schema = compileText(job.schema);
  if (!schema.ok) return { kind: "refused", error: schema.error };
  if (job.kind === "admit") return { kind: "admitted" };
  try {
    const isValid = schema.validate(JSON.parse(job.value)) === true;
    return { kind: "checked", violations: isValid ? [] : describeViolations(schema.validate.errors ?? []) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { kind: "refused", error: "refers to itself without end, or the value is nested too deeply" };
  }
}

parentPort?.on("message", (job: SchemaJob) => parentPort?.postMessage(answer(job)));
// The first meta-schema takes most of what a small schema takes: no job pays for it.
compileSchema({ type: "object" });
parentPort?.postMessage("ready");
