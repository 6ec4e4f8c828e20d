import type { Evidence, Invariant } from "../world/evidence.ts";
import { agentsOnce } from "./agents.ts";
import { readyIsValid } from "./deliverables.ts";
import { deliveredOrDropped, oneRowPerEvent } from "./deliveries.ts";
import { oneEndPerRun, readsRunning, streamsEqualLog } from "./event-log.ts";
import { noSecondExecution } from "./executions.ts";
import { jobsEnd } from "./jobs.ts";
import { noCanary, nothingLeft } from "./nothing-left.ts";
import { compactionsInPairs, soundPrompts } from "./prompts.ts";
import { publicationsServed, publicationsStored } from "./publications.ts";
import { steersReadOnce } from "./steers.ts";
import { acknowledgedOnce, oneFirstTurn } from "./transcript.ts";
import { interruptsStop, oneTurnAtATime } from "./turn-order.ts";
import { variantsWhole } from "./variants.ts";
import { wakesOnce } from "./wakes.ts";
import { importsWhole, pagesWhole, planningOnce, reportsOnce } from "./work.ts";

/** The invariants that must hold in every run of every case. Source: `faults.md`, Invariants. */
const INVARIANTS: readonly Invariant[] = [
  oneFirstTurn,
  acknowledgedOnce,
  oneEndPerRun,
  oneRowPerEvent,
  deliveredOrDropped,
  noSecondExecution,
  readyIsValid,
  readsRunning,
  nothingLeft,
  streamsEqualLog,
  noCanary,
  steersReadOnce,
  oneTurnAtATime,
  jobsEnd,
  interruptsStop,
  soundPrompts,
  compactionsInPairs,
  wakesOnce,
  agentsOnce,
  variantsWhole,
  publicationsStored,
  publicationsServed,
  planningOnce,
  pagesWhole,
  reportsOnce,
  importsWhole,
];

/** Finds all violations of the invariants. The text of each violation begins with the id of its invariant. */
export const findViolations = (evidence: Evidence): string[] =>
  INVARIANTS.flatMap(({ id, findViolations }) => findViolations(evidence).map((text) => `${id}: ${text}`));
