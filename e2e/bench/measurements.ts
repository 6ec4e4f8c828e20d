import { baselineMeasurement } from "./measure/baselines.ts";
import { browserMeasurement } from "./measure/browsers.ts";
import { callbackMeasurement } from "./measure/callbacks.ts";
import { durabilityMeasurement } from "./measure/durability.ts";
import { firstPictureMeasurement } from "./measure/first-picture.ts";
import { followerMeasurements } from "./measure/followers.ts";
import { liveViewMeasurement } from "./measure/live-view.ts";
import { memoryMeasurement } from "./measure/memory.ts";
import { parkedMeasurement } from "./measure/parked.ts";
import { projectionMeasurement } from "./measure/projection.ts";
import { publishedScriptMeasurement } from "./measure/published-script.ts";
import { requestMeasurements } from "./measure/requests.ts";
import { snapshotMeasurement } from "./measure/snapshot.ts";
import { startUpMeasurement } from "./measure/start-up.ts";
import { stepMeasurement } from "./measure/steps.ts";
import { turnMeasurements } from "./measure/turns.ts";
import { variantRuntimeMeasurement } from "./measure/variant-runtime.ts";
import type { Measurement } from "./types.ts";

/**
 * All measurements, in the order of the table. Long ones come last, because a run skips measurements for which it has
 * no time left.
 */
export const measurements: readonly Measurement[] = [
  ...turnMeasurements,
  baselineMeasurement,
  ...followerMeasurements,
  ...requestMeasurements,
  projectionMeasurement,
  snapshotMeasurement,
  variantRuntimeMeasurement,
  publishedScriptMeasurement,
  callbackMeasurement,
  durabilityMeasurement,
  memoryMeasurement,
  startUpMeasurement,
  firstPictureMeasurement,
  liveViewMeasurement,
  browserMeasurement,
  stepMeasurement,
  parkedMeasurement,
];
