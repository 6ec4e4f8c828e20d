import type { SchemaChecker as Checker } from "#lib/deliverable/admission/create-schema-checker.ts";
import type { RunInPlay } from "../run/run-in-play.ts";

/** The schema operations that a turn needs; they run in worker threads. */
export type SchemaChecker = Pick<Checker, "profile" | "formatOf" | "checkAnswer">;

/** Returns the JSON Schema of a structured session. @throws for a session without one, which is a bug in this service. */
export function readSchema({ session }: RunInPlay): Record<string, unknown> {
  if (!session.outputSchema) throw new Error(`session ${session.id} has no output schema`);
  return session.outputSchema;
}
