import type { EngineRunState } from "#db/schema/engine.ts";

/** A transition of a function run of the embedded engine. */
type EngineRunMove = "parked" | "woken" | "taken" | "completed" | "failed" | "cancelled";

/**
 * The state machine of a function run. `running`: an executor plays the run or has it queued. `waiting`: the run is
 * parked until a timer, an event or the end of a run that it invoked. The move `taken`: another executor has claimed
 * the run.
 */
const MOVES = {
  running: {
    parked: "waiting",
    woken: "running",
    taken: "running",
    completed: "completed",
    failed: "failed",
    cancelled: "cancelled",
  },
  waiting: { woken: "running", taken: "waiting", cancelled: "cancelled" },
  completed: {},
  failed: {},
  cancelled: {},
} as const satisfies Record<EngineRunState, Partial<Record<EngineRunMove, EngineRunState>>>;

const TABLE: Record<EngineRunState, Partial<Record<EngineRunMove, EngineRunState>>> = MOVES;

/**
 * Returns the state after a move.
 *
 * @throws if the state does not allow the move, which is a bug of the engine.
 */
export function nextRunState(state: EngineRunState, move: EngineRunMove): EngineRunState {
  const next = TABLE[state][move];
  if (!next) throw new Error(`A ${state} function run cannot be ${move}.`);
  return next;
}

/** Returns the states that allow a move. The statement that makes the move uses them as its compare-and-set condition. */
export function statesBefore(move: EngineRunMove): EngineRunState[] {
  return (Object.keys(TABLE) as EngineRunState[]).filter((state) => TABLE[state][move] !== undefined);
}
