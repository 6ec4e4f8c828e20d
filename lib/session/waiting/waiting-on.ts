import type { WaitKind } from "#db/schema/unions.ts";
import type { WaitingOn } from "#lib/events/event.ts";
import type { WaitRow } from "./wait-store.ts";

/** Of several waits of a turn, which kind its readers are told: the one that a person can do something about comes first. */
const ORDER: WaitKind[] = ["person", "control", "agents", "tests"];

/** What a turn's waits come to for its readers. @param since when the turn began to wait. */
export function toWaitingOn(
  waits: readonly Pick<WaitRow, "kind" | "subjects" | "deadlineAt">[],
  since: Date,
): WaitingOn | null {
  const kind = ORDER.find((each) => waits.some((wait) => wait.kind === each));
  if (kind === undefined) return null;
  const told = waits.filter((wait) => wait.kind === kind);
  const deadlines = told.flatMap(({ deadlineAt }) => (deadlineAt === null ? [] : [deadlineAt.getTime()]));
  return {
    kind,
    ids: told.flatMap(({ subjects }) => subjects),
    since: since.toISOString(),
    until: deadlines.length === 0 ? null : new Date(Math.min(...deadlines)).toISOString(),
  };
}
