import type { WaitKind } from "#db/schema/unions.ts";
import type { WaitingOn } from "#lib/events/event.ts";
import type { WaitRow } from "./wait-store.ts";

/** If a turn waits for several kinds of things, the first of these is reported: kinds that a person can settle come first. */
const ORDER: WaitKind[] = ["person", "control", "budget", "agents", "tests"];

/** Returns the kind of these that is reported; undefined without any. */
export const chooseWaitKind = (kinds: readonly WaitKind[]): WaitKind | undefined =>
  ORDER.find((each) => kinds.includes(each));

/** Combines a turn's waits for its readers. @param since when the turn began to wait. */
export function toWaitingOn(
  waits: readonly Pick<WaitRow, "kind" | "subjects" | "deadlineAt">[],
  since: Date,
): WaitingOn | null {
  const kind = chooseWaitKind(waits.map((wait) => wait.kind));
  if (kind === undefined) return null;
  const told = waits.filter((wait) => wait.kind === kind);
  const deadlines = told.flatMap(({ deadlineAt }) => (deadlineAt === null ? [] : [deadlineAt.getTime()]));
  const subjects = told.flatMap((wait) => wait.subjects);
  return {
    kind,
    ids: kind === "budget" ? [] : subjects,
    since: since.toISOString(),
    ...(kind === "budget" && { reason: subjects.join(" ") }),
    until: deadlines.length === 0 ? null : new Date(Math.min(...deadlines)).toISOString(),
  };
}
