import { z } from "zod";
import type { TestCounts } from "#db/schema/index.ts";
import type { Workspace } from "#lib/sandbox/sandbox-service.ts";
import { PROGRESS_PATH, TESTS_MAX } from "./runner-program.ts";

const number = z.int().min(0).max(TESTS_MAX);
const progressSchema = z.object({
  counts: z.object({ total: number, passed: number, failed: number, flaky: number, skipped: number }),
});

/** Reads the counts of a running test run; undefined if the runner has not written valid counts. */
export async function readProgress(workspace: Workspace): Promise<TestCounts | undefined> {
  try {
    const { bytes } = await workspace.readFile(PROGRESS_PATH, 10_000);
    return progressSchema.parse(JSON.parse(Buffer.from(bytes).toString())).counts;
  } catch {
    // A test may remove or forge the file, but the results do not depend on it.
    return undefined;
  }
}
