import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import type { ProfileName, SchemaForm } from "#lib/projection/profile/profile.ts";
import { createRecent } from "./recent.ts";
import type { RawViolation, Violation } from "./schema-job.ts";
import { createSchemaPool } from "./schema-pool.ts";
import type { ThreadOutcome } from "./schema-thread.ts";
import { serializeSchema } from "./serialize-schema.ts";

export type { RawViolation, Violation } from "./schema-job.ts";

/** If `isBusy` is set, the schema was not checked, because too many schemas of this owner are waiting. */
type SchemaVerdict = { ok: true } | { ok: false; error: string; isBusy?: true };

type ValueVerdict =
  | { valid: true }
  | { valid: false; violations: Violation[] }
  /**
   * The value was not checked, or the check failed: the value is not JSON or is nested too deeply, the schema is
   * refused, or the check exceeded its limits.
   */
  | { valid: false; error: string };

/**
 * The response format for a caller's schema: the schema that is sent to the provider, and whether strict mode is used.
 */
export type OutputFormat = { schema: Record<string, unknown>; isStrict: boolean };

/** The result of checking a model's answer against the response format and the caller's schema. */
type Judgement =
  /** The answer is valid against the caller's schema; `value` is the answer in the caller's shape. */
  | { kind: "fits"; value: unknown }
  | { kind: "breaks"; violations: RawViolation[] }
  /** The answer does not fit the response format; `path` is a JSON pointer into the answer. */
  | { kind: "outside"; path: string; message: string }
  | { kind: "unreadable"; reason: "not JSON" | "nested too deeply" }
  /**
   * The answer was not checked, or the check failed: the schema is refused, the answer is nested too deeply for the
   * validator, or the check exceeded its limits.
   */
  | { kind: "unjudged"; error: string };

/**
 * Checks callers' schemas, and values against these schemas, without blocking the event loop. The owners of schemas
 * (`ownerId`) share the threads fairly.
 */
export type SchemaChecker = {
  /** The provider whose rules the response formats follow. */
  profile: ProfileName;
  /**
   * Whether a session may use this `outputSchema`. The error starts with `outputSchema:`. If the flaw is at one place
   * in the schema, the JSON pointer to this place follows.
   */
  admitSchema: (schema: unknown, ownerId?: string) => Promise<SchemaVerdict>;
  /**
   * Whether a value is valid against the caller's original schema.
   *
   * @param options.isAnyRoot whether the root of the schema may have any type, as schemas of tool servers may.
   */
  validateValue: (
    schema: unknown,
    value: unknown,
    options?: { isAnyRoot?: boolean; ownerId?: string },
  ) => Promise<ValueVerdict>;
  /**
   * Returns the response format for an admitted schema. `form`: how plain it is; default `bounds`.
   *
   * @throws if the conversion exceeds the limits of a job. This does not happen for an admitted schema.
   */
  formatOf: (schema: unknown, ownerId?: string, form?: SchemaForm) => Promise<OutputFormat>;
  /**
   * Decodes a model's answer in the format of `formatOf` with the same form into the caller's shape, and validates the result against the
   * caller's schema. A number that is too large for JavaScript to keep its digits is a violation.
   */
  checkAnswer: (schema: unknown, answer: string, ownerId?: string, form?: SchemaForm) => Promise<Judgement>;
  close: () => Promise<void>;
};

/**
 * Creates a checker that compiles and runs schemas, and converts them for a provider, in a small pool of worker
 * threads. Each job has a CPU deadline and a memory limit. Source: specification, Structured sessions, Schema rules;
 * `security.md`, What comes in.
 *
 * @param options.cpuMs CPU time for admitting one schema. Default 3,000. Later jobs with an admitted schema get three
 * times as much, so that they do not fail when the machine is slower than it was at admission.
 * @param options.memoryMb memory limit of each thread. Default 256.
 * @param options.threadsMax maximum number of threads. Default: the number of CPU cores minus one, but at least 2 and
 * at most 4.
 * @param options.profile the rules of a provider for schemas. Default `openai`, because most other servers accept
 * schemas that follow the rules of OpenAI.
 */
export function createSchemaChecker(
  options: { cpuMs?: number; memoryMb?: number; threadsMax?: number; profile?: ProfileName } = {},
): SchemaChecker {
  const profile = options.profile ?? "openai";
  const formats = createRecent<OutputFormat>(FORMATS_CACHED);
  const verdicts = createRecent<SchemaVerdict>(VERDICTS_CACHED);
  const { cpuMs = 3_000, memoryMb = 256, threadsMax = countThreads() } = options;
  const pool = createSchemaPool({ threadsMax, memoryMb });
  const admission = { cpuMs };
  const later = { cpuMs: LATER_FACTOR * cpuMs };
  const describeLimit = (limit: "timeout" | "out of memory", { cpuMs } = later) =>
    limit === "timeout" ? `more than ${cpuMs} ms of CPU time` : "more memory than it may have";

  return {
    profile,
    async admitSchema(schema, ownerId = NO_OWNER) {
      const serialized = serializeSchema(schema);
      if (!serialized.ok) return refuse(serialized.error);
      const key = createHash("sha256").update(serialized.text).digest("base64");
      const cached = verdicts.find(key);
      if (cached) return cached;
      if (pool.countWaiting(ownerId) >= WAITING_MAX) return { ...refuse(tooManyWaiting), isBusy: true };
      const outcome = await pool.run({ kind: "admit", schema: serialized.text }, ownerId, admission);
      // This verdict is not cached, because another attempt may succeed, for example in a thread with more free memory.
      if (outcome.kind === "timeout" || outcome.kind === "out of memory")
        return refuse(`takes ${describeLimit(outcome.kind, admission)} to compile and run`);
      return verdicts.add(key, outcome.kind === "refused" ? refuse(outcome.error) : { ok: true });
    },

    async validateValue(schema, value, { isAnyRoot = false, ownerId = NO_OWNER } = {}) {
      const serialized = serializeSchema(schema, { isAnyRoot });
      if (!serialized.ok) return { valid: false, error: `outputSchema: ${serialized.error}` };
      const text = serializeValue(value);
      if (text === undefined) return { valid: false, error: "the value is nested too deeply, or is no JSON" };
      const job = { kind: "validate", schema: serialized.text, value: text } as const;
      const outcome = await pool.run(job, ownerId, later);
      switch (outcome.kind) {
        case "timeout":
        case "out of memory":
          return { valid: false, error: `checking the value takes ${describeLimit(outcome.kind)}` };
        case "refused":
          return { valid: false, error: `outputSchema: ${outcome.error}` };
        case "checked":
          return outcome.violations.length === 0
            ? { valid: true }
            : { valid: false, violations: outcome.violations };
        default:
          throw new Error("the schema thread sent an answer of another job");
      }
    },

    async formatOf(schema, ownerId = NO_OWNER, form = "bounds") {
      const text = JSON.stringify(schema);
      const key = `${form} ${text}`;
      const cached = formats.find(key);
      if (cached) return cached;
      const outcome = await pool.run({ kind: "project", schema: text, profile, form }, ownerId, later);
      if (outcome.kind !== "projected") throw new Error(`the schema was not projected: ${outcome.kind}`);
      return formats.add(key, { schema: JSON.parse(outcome.schema), isStrict: outcome.isStrict });
    },

    async checkAnswer(schema, answer, ownerId = NO_OWNER, form = "bounds") {
      const job = { kind: "judge", schema: JSON.stringify(schema), profile, form, answer } as const;
      return readJudgement(
        await pool.run(job, ownerId, later),
        (limit) => `checking the value takes ${describeLimit(limit)}`,
      );
    },

    close: pool.close,
  };
}

const FORMATS_CACHED = 64;
const VERDICTS_CACHED = 256;
const LATER_FACTOR = 3;
/**
 * Number of waiting jobs of an owner at which `admitSchema` rejects further schemas of this owner. The other functions
 * never reject a job for this reason.
 */
const WAITING_MAX = 32;
const tooManyWaiting = `${WAITING_MAX} schemas of this API key are waiting to be checked; try again in a few seconds`;
const NO_OWNER = "";

const countThreads = (): number => Math.min(4, Math.max(2, availableParallelism() - 1));

function readJudgement(
  outcome: ThreadOutcome,
  describeLimit: (limit: "timeout" | "out of memory") => string,
): Judgement {
  switch (outcome.kind) {
    case "timeout":
    case "out of memory":
      return { kind: "unjudged", error: describeLimit(outcome.kind) };
    case "refused":
      return { kind: "unjudged", error: `outputSchema: ${outcome.error}` };
    case "outside":
    case "unreadable":
      return outcome;
    case "folded":
      return outcome.violations.length === 0
        ? { kind: "fits", value: JSON.parse(outcome.value) }
        : { kind: "breaks", violations: outcome.violations };
    default:
      throw new Error("the schema thread sent an answer of another job");
  }
}

const refuse = (error: string): { ok: false; error: string } => ({
  ok: false,
  error: `outputSchema: ${error}`,
});

function serializeValue(value: unknown): string | undefined {
  try {
    // JSON.stringify returns undefined for values that JSON cannot hold, although its declared return type is string.
    return JSON.stringify(value) as string | undefined;
  } catch {
    return undefined;
  }
}
