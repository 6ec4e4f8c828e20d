import type { FaultCase } from "../fault-case.ts";
import { killPoints, throwPoints } from "./kill-points.ts";

export { MISSING } from "./kill-points.ts";

/** Every fault of the campaign, in the order in which they are played. */
export const CASES: readonly FaultCase[] = [...killPoints, ...throwPoints];
