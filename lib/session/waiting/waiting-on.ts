import type { WaitKind } from "#db/schema/unions.ts";
import type { WaitingOn } from "#lib/events/event.ts";
import type { WaitRow } from "../store/wait-store.ts";

/**
 * If a turn has waits of several kinds, the kind that comes first in this list is reported. Kinds that people can
 * settle come first.
 */
export const WAIT_KIND_ORDER: readonly WaitKind[] = ["person", "control", "budget", "agents", "tests"];

/** Chooses the kind to report; undefined for an empty list. */
export const chooseWaitKind = (kinds: readonly WaitKind[]): WaitKind | undefined =>
  WAIT_KIND_ORDER.find((each) => kinds.includes(each));

/** Combines the waits of a turn into the API form. @param since when the turn began to wait. */
export function toWaitingOn(
  waits: readonly Pick<WaitRow, "kind" | "subjects" | "deadlineAt">[],
  since: Date,
): WaitingOn | null {
  const kind = chooseWaitKind(waits.map((wait) => wait.kind));
  if (kind === undefined) return null;
  const reported = waits.filter((wait) => wait.kind === kind);
  const deadlines = reported.flatMap(({ deadlineAt }) => (deadlineAt === null ? [] : [deadlineAt.getTime()]));
  const subjects = reported.flatMap((wait) => wait.subjects);
  return {
    kind,
    ids: kind === "budget" ? [] : subjects,
    since: since.toISOString(),
    ...(kind === "budget" && { reason: subjects.join(" ") }),
    until: deadlines.length === 0 ? null : new Date(Math.min(...deadlines)).toISOString(),
  };
}
