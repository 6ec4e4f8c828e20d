import type { ProfileName } from "../projection/profile/profile.ts";

/** A violation of a schema. `path` is a JSON pointer into the value; "" is the value itself. */
export type Violation = { path: string; message: string };

/** A violation of a decoded value; `rawPath` is the same place in the model's own JSON. */
export type RawViolation = Violation & { rawPath: string };

/** A job for a worker thread; schemas and values travel as JSON text. */
export type SchemaJob =
  | { kind: "admit"; schema: string }
  | { kind: "validate"; schema: string; value: string }
  /** Project the schema for the provider of that profile. */
  | { kind: "project"; schema: string; profile: ProfileName }
  /** Decode a model's answer in the projected schema, and validate it against the caller's schema. */
  | { kind: "judge"; schema: string; profile: ProfileName; answer: string };

/** Messages of a worker thread: first that it is ready, then each job's answer with the CPU time used so far. */
export type WorkerMessage = { answer: SchemaAnswer | undefined; cpuMs: number };

/** The result of a job. A refusal is a sentence that starts with a JSON pointer if possible. */
export type SchemaAnswer =
  | { kind: "admitted" }
  | { kind: "checked"; violations: Violation[] }
  | { kind: "projected"; schema: string; isStrict: boolean }
  | { kind: "folded"; value: string; violations: RawViolation[] }
  /** The value does not fit the projected schema; `path` points into the model's JSON. */
  | { kind: "outside"; path: string; message: string }
  /** The model's text cannot be parsed. */
  | { kind: "unreadable"; reason: "not JSON" | "nested too deeply" }
  | { kind: "refused"; error: string };
