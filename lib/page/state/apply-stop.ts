import type { DomainEvent } from "#lib/events/event.ts";
import type { StopView } from "./view-types.ts";

/** Adds who stopped a run. Pure. The first one stays. */
export function applyStop(
  stops: Readonly<Record<string, StopView>>,
  { runId, by, name }: Extract<DomainEvent, { kind: "turn.stopping" }>,
): Readonly<Record<string, StopView>> {
  return runId === null || runId in stops ? stops : { ...stops, [runId]: { by, name } };
}
