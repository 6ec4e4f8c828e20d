import { z } from "zod";
import type { TestCounts } from "#db/schema/index.ts";
import { PROGRESS_PATH, TESTS_MAX } from "./runner-program.ts";
import type { TestFolder } from "./test-runs-deps.ts";

const number = z.int().min(0).max(TESTS_MAX);
const progressSchema = z.object({
  counts: z.object({ total: number, passed: number, failed: number, flaky: number, skipped: number }),
});

/** Reads the counts of a test run that is in progress. Returns undefined if the file has no valid counts. */
export async function readProgress(folder: TestFolder): Promise<TestCounts | undefined> {
  try {
    const { bytes } = await folder.readFile(PROGRESS_PATH, 10_000);
    return progressSchema.parse(JSON.parse(Buffer.from(bytes).toString())).counts;
  } catch {
    // The results do not depend on this file, so a test that removes or forges the file does no harm.
    return undefined;
  }
}
