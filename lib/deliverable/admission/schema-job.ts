import type { ProfileName, SchemaForm } from "#lib/projection/profile/profile.ts";

/** A violation of a schema. `path` is a JSON pointer into the value; "" is the value itself. */
export type Violation = { path: string; message: string };

/** A violation in a decoded value. `rawPath` points to the same place in the model's own JSON. */
export type RawViolation = Violation & { rawPath: string };

/** A job for a worker thread. Schemas and values are passed as JSON text. */
export type SchemaJob =
  | { kind: "admit"; schema: string }
  | { kind: "validate"; schema: string; value: string }
  /** Converts the schema to the form that providers with this profile accept (the projected schema). */
  | { kind: "project"; schema: string; profile: ProfileName; form: SchemaForm }
  /** Decodes a model's answer, which follows the projected schema, and validates it against the caller's schema. */
  | { kind: "judge"; schema: string; profile: ProfileName; form: SchemaForm; answer: string };

/**
 * A message from a worker thread. The first message has no answer: it reports that the thread is ready. `cpuMs` is the
 * CPU time that the thread has used so far.
 */
export type WorkerMessage = { answer: SchemaAnswer | undefined; cpuMs: number };

/**
 * The result of a job. The `error` of a refusal is a sentence. If the flaw is at one place in the schema, the sentence
 * starts with the JSON pointer to this place.
 */
export type SchemaAnswer =
  | { kind: "admitted" }
  | { kind: "checked"; violations: Violation[] }
  | { kind: "projected"; schema: string; isStrict: boolean }
  | { kind: "folded"; value: string; violations: RawViolation[] }
  /** The model's answer does not fit the projected schema; `path` is a JSON pointer into the answer. */
  | { kind: "outside"; path: string; message: string }
  /** The model's text cannot be parsed. */
  | { kind: "unreadable"; reason: "not JSON" | "nested too deeply" }
  | { kind: "refused"; error: string };
