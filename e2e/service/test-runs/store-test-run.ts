import { testRuns } from "#db/schema/index.ts";
import { newId } from "#lib/session/new-id.ts";
import type { TestService } from "../testing.ts";

/** Stores a test run that no process executes. @returns the id of the test run. */
export async function storeTestRun(service: TestService, sessionId: string): Promise<string> {
  const id = newId("tst");
  await service.container.services.db.insert(testRuns).values({
    id,
    sessionId,
    number: 1,
    startedBy: "agent",
    counts: { total: 0, passed: 0, failed: 0, flaky: 0, skipped: 0 },
    input: {
      files: [],
      against: ["control"],
      variant: null,
      grep: null,
      retries: 0,
      baseUrl: null,
      viewport: "desktop",
      timeoutSeconds: 300,
    },
  });
  return id;
}
