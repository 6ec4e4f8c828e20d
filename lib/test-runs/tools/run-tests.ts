import { z } from "zod";
import type { TestRunInput } from "#db/schema/index.ts";
import type { TestTarget } from "#db/schema/unions.ts";
import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import { findSelectedUrl } from "#lib/session/store/selected-url-store.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import { defineTool, errorResult, jsonResult, type Tool } from "#lib/tools/tool.ts";
import { variantKeySchema } from "#lib/variant/document.ts";
import { listVariantKeys } from "#lib/variant/variant-store.ts";
import { startTestRun } from "../start-test-run.ts";
import { testRunOptions } from "../test-run-options.ts";
import type { TestRunsDeps } from "../test-runs-deps.ts";

/**
 * Creates the tool `run_tests`, which runs Playwright tests in the workspace.
 * Source: specification, Structured sessions; `architecture.md`, Test runs.
 */
export const runTests = (
  deps: Pick<TestRunsDeps, "db" | "log" | "jobs"> & { sandbox: Pick<SandboxService, "describe"> },
): Tool =>
  defineTool({
    name: "run_tests",
    description: `Starts Playwright Test on test files of the workspace, in a Chromium of its own, and returns a testRunId for wait_for_test_results. Write the tests with write_file, for example tests/pay.spec.ts:
import { test, expect } from "@playwright/test";
test("the pay button names the price", async ({ page }) => {
  await page.goto("/checkout");
  await expect(page.getByRole("button", { name: /pay/i })).toContainText("€");
});
Relative addresses refer to baseUrl. Tests reach the addresses that the live browser reaches, but not its cookies. Test files only: the workspace's playwright.config is not read, and launchOptions cannot be set.`,
    input: z.strictObject({
      files: z
        .array(z.string().min(1).max(500))
        .max(100)
        .default([])
        .describe("test files or folders of the workspace; by default every *.spec.* and *.test.* file"),
      against: z
        .enum(["control", "variant", "both"])
        .optional()
        .describe(
          "the page as it is, with the variant, or both; by default both if the session has that variant, otherwise control",
        ),
      variant: variantKeySchema.default("main"),
      baseUrl: testRunOptions.baseUrl
        .optional()
        .describe("by default the origin of the session's target page"),
      grep: testRunOptions.grep
        .optional()
        .describe("run only tests whose title matches this regular expression"),
      retries: testRunOptions.retries,
      viewport: testRunOptions.viewport,
      timeoutSeconds: testRunOptions.timeoutSeconds,
    }),
    idempotent: true,
    readOnly: false,
    // A test can act on pages and write files, so the tool counts as changing something.
    changes: true,
    async execute({ against, variant, baseUrl, grep, ...options }, call) {
      const session = await findSession(deps.db, call.sessionId);
      if (!session?.capabilities.browser)
        return errorResult("run_tests: this session has no browser (capabilities.browser is false).");
      const { canRunCommands, detail } = deps.sandbox.describe();
      if (!canRunCommands) return errorResult(`run_tests: ${detail}`);
      const keys = await listVariantKeys(deps.db, call.sessionId);
      const targets: readonly TestTarget[] =
        TARGETS[against ?? (keys.includes(variant) ? "both" : "control")];
      const input: TestRunInput = {
        ...options,
        against: [...targets],
        variant: targets.includes("variant") ? variant : null,
        baseUrl: baseUrl ?? originOf(await findSelectedUrl(deps.db, call.sessionId)),
        grep: grep ?? null,
      };
      const { sessionId, requestId, runId, callId } = call;
      const started = await startTestRun(
        deps,
        { sessionId, startedBy: "agent", requestId, runId, callId },
        input,
      );
      if (started.ok) {
        const { id: testRunId, number, status } = started.row;
        return jsonResult({ testRunId, number, status, against: input.against, baseUrl: input.baseUrl });
      }
      const advice =
        started.open === undefined ? "" : ` Call wait_for_test_results with ${started.open} first.`;
      return errorResult(`run_tests: ${started.problem}.${advice}`);
    },
  });

const TARGETS = {
  control: ["control"],
  variant: ["variant"],
  both: ["control", "variant"],
} as const satisfies Record<string, TestRunInput["against"]>;

const originOf = (url: string | undefined | null): string | null =>
  url && URL.canParse(url) ? new URL(url).origin : null;
