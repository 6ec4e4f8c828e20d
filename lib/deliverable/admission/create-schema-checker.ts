import type { ProfileName } from "../projection/profile/profile.ts";
import { createRecent } from "./recent.ts";
import type { RawViolation, Violation } from "./schema-job.ts";
import { createSchemaThread, type ThreadOutcome } from "./schema-thread.ts";
import { serializeSchema } from "./serialize-schema.ts";

export type { RawViolation, Violation } from "./schema-job.ts";

export type SchemaVerdict = { ok: true } | { ok: false; error: string };

export type ValueVerdict =
  | { valid: true }
  | { valid: false; violations: Violation[] }
  /** The value could not be checked: the schema is refused, or asks for more time or memory than allowed. */
  | { valid: false; error: string };

/** The response format of a schema: what the provider is sent, and whether it is asked to keep to it strictly. */
export type OutputFormat = { schema: Record<string, unknown>; isStrict: boolean };

/** What a model's answer in a schema's response format comes to. */
export type Judgement =
  /** The value in the caller's shape, valid against the caller's schema. */
  | { kind: "fits"; value: unknown }
  | { kind: "breaks"; violations: RawViolation[] }
  /** It is not of the format; `path` is a JSON pointer into the answer. */
  | { kind: "outside"; path: string; message: string }
  /** It could not be judged: that asks for more time or memory than allowed. */
  | { kind: "unjudged"; error: string };

/** Checks callers' schemas, and values against them, without ever holding up the event loop. */
export type SchemaChecker = {
  /** Whether a session may have this `outputSchema`; the error is `outputSchema: …`, with a JSON pointer where it can. */
  admitSchema: (schema: unknown) => Promise<SchemaVerdict>;
  /** Whether a value is valid against the caller's original schema. */
  validateValue: (schema: unknown, value: unknown) => Promise<ValueVerdict>;
  /**
   * The format in which a provider is asked for a value of an admitted schema.
   *
   * @throws when the thread has no time for it, though it takes little.
   */
  formatOf: (schema: unknown) => Promise<OutputFormat>;
  /** Folds an answer in that format back into the caller's shape, and checks it against the caller's schema. */
  judgeAnswer: (schema: unknown, answer: unknown) => Promise<Judgement>;
  close: () => Promise<void>;
};

/**
 * Compiles, projects and runs schemas in one worker thread with a deadline and a memory cap per job.
 * Source: specification, Structured sessions, Schema rules; `security.md`, What comes in.
 *
 * @param options.deadlineMs time for one schema or one value. Default 3,000.
 * @param options.memoryMb memory of the thread. Default 256.
 * @param options.profile of the provider that is sent the formats. Default `openai`, which the others take as well.
 */
export function createSchemaChecker(
  options: { deadlineMs?: number; memoryMb?: number; profile?: ProfileName } = {},
): SchemaChecker {
  const profile = options.profile ?? "openai";
  const formats = createRecent<OutputFormat>(FORMATS_KEPT);
  const deadlineMs = options.deadlineMs ?? 3_000;
  const thread = createSchemaThread({ deadlineMs, memoryMb: options.memoryMb ?? 256 });
  const tooMuch = { timeout: `more than ${deadlineMs} ms`, "out of memory": "more memory than it may have" };

  return {
    async admitSchema(schema) {
      const serialized = serializeSchema(schema);
      if (!serialized.ok) return refuse(serialized.error);
      const outcome = await thread.run({ kind: "admit", schema: serialized.text });
      if (outcome.kind === "timeout" || outcome.kind === "out of memory")
        return refuse(`takes ${tooMuch[outcome.kind]} to compile and run`);
      return outcome.kind === "refused" ? refuse(outcome.error) : { ok: true };
    },

    async validateValue(schema, value) {
      const serialized = serializeSchema(schema);
      if (!serialized.ok) return { valid: false, error: `outputSchema: ${serialized.error}` };
      const text = serializeValue(value);
      if (text === undefined) return { valid: false, error: "the value is nested too deeply, or is no JSON" };
      const outcome = await thread.run({ kind: "validate", schema: serialized.text, value: text });
      switch (outcome.kind) {
        case "timeout":
        case "out of memory":
          return { valid: false, error: `checking the value takes ${tooMuch[outcome.kind]}` };
        case "refused":
          return { valid: false, error: `outputSchema: ${outcome.error}` };
        case "checked":
          return outcome.violations.length === 0
            ? { valid: true }
            : { valid: false, violations: outcome.violations };
        default:
          throw new Error("the schema thread answered another question");
      }
    },

    async formatOf(schema) {
      const text = JSON.stringify(schema);
      const known = formats.find(text);
      if (known) return known;
      const outcome = await thread.run({ kind: "project", schema: text, profile });
      if (outcome.kind !== "projected") throw new Error(`the schema was not projected: ${outcome.kind}`);
      return formats.keep(text, { schema: JSON.parse(outcome.schema), isStrict: outcome.isStrict });
    },

    async judgeAnswer(schema, answer) {
      const value = serializeValue(answer);
      if (value === undefined) return { kind: "unjudged", error: "the answer is nested too deeply" };
      return readJudgement(
        await thread.run({ kind: "judge", schema: JSON.stringify(schema), profile, value }),
        (limit) => `checking the value takes ${tooMuch[limit]}`,
      );
    },

    close: thread.close,
  };
}

const FORMATS_KEPT = 64;

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
      return outcome;
    case "folded":
      return outcome.violations.length === 0
        ? { kind: "fits", value: JSON.parse(outcome.value) }
        : { kind: "breaks", violations: outcome.violations };
    default:
      throw new Error("the schema thread answered another question");
  }
}

const refuse = (error: string): SchemaVerdict => ({ ok: false, error: `outputSchema: ${error}` });

function serializeValue(value: unknown): string | undefined {
  try {
    // JSON.stringify answers undefined for what JSON does not know, whatever its type says.
    return JSON.stringify(value) as string | undefined;
  } catch {
    return undefined;
  }
}
