/** A place where a value breaks its schema, as a JSON pointer into the value ("" is the value itself). */
export type Violation = { path: string; message: string };

/** What the worker thread is asked; schema and value travel as JSON text. */
export type SchemaJob =
  | { kind: "admit"; schema: string }
  | { kind: "validate"; schema: string; value: string };

/** What it answers: the job's result, or a sentence about the schema that begins with a JSON pointer where it can. */
export type SchemaAnswer =
  | { kind: "admitted" }
  | { kind: "checked"; violations: Violation[] }
  | { kind: "refused"; error: string };
