import type { ProfileName } from "../projection/profile/profile.ts";

/** A place where a value breaks its schema, as a JSON pointer into the value ("" is the value itself). */
export type Violation = { path: string; message: string };

/** A violation of a value that came in a provider's format: `rawPath` is the same place in the model's own JSON. */
export type RawViolation = Violation & { rawPath: string };

/** A job for a worker thread; schemas and values travel as JSON text. */
export type SchemaJob =
  | { kind: "admit"; schema: string }
  | { kind: "validate"; schema: string; value: string }
  /** Project the schema for the provider of that profile. */
  | { kind: "project"; schema: string; profile: ProfileName }
  /** Fold back the text that a model answered in the projected schema, and check it against the schema itself. */
  | { kind: "judge"; schema: string; profile: ProfileName; answer: string };

/** What a worker thread sends: first that it is ready, then the answer of each job, and its CPU time so far. */
export type WorkerMessage = { answer: SchemaAnswer | undefined; cpuMs: number };

/** The result of a job, or a sentence about the schema that begins with a JSON pointer where it can. */
export type SchemaAnswer =
  | { kind: "admitted" }
  | { kind: "checked"; violations: Violation[] }
  | { kind: "projected"; schema: string; isStrict: boolean }
  | { kind: "folded"; value: string; violations: RawViolation[] }
  /** The value is not of the projected schema; the path is one into the model's JSON. */
  | { kind: "outside"; path: string; message: string }
  /** The model's text cannot be read. */
  | { kind: "unreadable"; reason: "not JSON" | "nested too deeply" }
  | { kind: "refused"; error: string };
