import { parentPort, workerData } from "node:worker_threads";
import type { JobOutcome } from "../../threads/job-threads.ts";
import { type DifferenceJob, findDifference } from "./find-difference.ts";

// The entry file of a worker thread. It runs the job in `workerData` and posts the outcome.
const value = findDifference(workerData as DifferenceJob);
const outcome: JobOutcome = { ok: true, value };
parentPort?.postMessage(outcome, [value.picture.buffer]);
