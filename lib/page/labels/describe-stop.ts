import type { SessionState } from "../state/session-state.ts";

/** Describes who stopped a run: `You stopped the turn`, `Stopped by QA team`. */
export function describeStop(
  runId: string,
  { ownStops, stops }: Pick<SessionState, "ownStops" | "stops">,
): string {
  const stop = stops[runId];
  if (ownStops.includes(runId) && (stop === undefined || stop.by === "person")) return "You stopped the turn";
  switch (stop?.by) {
    case "person":
      return stop.name === null ? "Stopped by a person" : `Stopped by ${stop.name}`;
    case "program":
      return "Stopped by a program";
    case "message":
      return "Interrupted by a message";
    case undefined:
      return "Stopped";
  }
}
