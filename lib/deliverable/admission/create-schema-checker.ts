import type { Violation } from "./schema-job.ts";
import { createSchemaThread } from "./schema-thread.ts";
import { serializeSchema } from "./serialize-schema.ts";

export type { Violation } from "./schema-job.ts";

export type SchemaVerdict = { ok: true } | { ok: false; error: string };

export type ValueVerdict =
  | { valid: true }
  | { valid: false; violations: Violation[] }
  /** The value could not be checked: the schema is refused, or asks for more time or memory than allowed. */
  | { valid: false; error: string };

/** Checks callers' schemas, and values against them, without ever holding up the event loop. */
export type SchemaChecker = {
  /** Whether a session may have this `outputSchema`; the error is `outputSchema: …`, with a JSON pointer where it can. */
  admitSchema: (schema: unknown) => Promise<SchemaVerdict>;
  /** Whether a value is valid against the caller's original schema. */
  validateValue: (schema: unknown, value: unknown) => Promise<ValueVerdict>;
  close: () => Promise<void>;
};

/**
 * Compiles and runs schemas in one worker thread with a deadline and a memory cap per job.
 * Source: specification, Structured sessions, Schema rules; `security.md`, What comes in.
 *
 * @param options.deadlineMs time for one schema or one value. Default 3,000.
 * @param options.memoryMb memory of the thread. Default 256.
 */
export function createSchemaChecker(options: { deadlineMs?: number; memoryMb?: number } = {}): SchemaChecker {
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
        case "admitted":
          throw new Error("the schema thread answered another question");
        case "checked":
          return outcome.violations.length === 0
            ? { valid: true }
            : { valid: false, violations: outcome.violations };
      }
    },

    close: thread.close,
  };
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
