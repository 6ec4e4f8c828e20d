import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { playTurn, step } from "../variants/variants-testing.ts";
import { itRuns, listRuns, openTestRunsService, readRun, runAndWait, write } from "./test-runs-testing.ts";

let fixture: Awaited<ReturnType<typeof openTestRunsService>>;
before(async () => {
  fixture = await openTestRunsService();
});
after(() => fixture.close());

const HEADING = `import { expect, test } from "@playwright/test";
test("the heading", async ({ page }) => {
  await page.goto("/demo/index.html");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("A loud desk", { timeout: 15_000 });
});
test("contexts and pages of the test's own", async ({ browser, baseURL }) => {
  const context = await browser.newContext();
  const own = await context.newPage();
  await own.goto("/demo/index.html");
  await expect(own.locator("h1")).toHaveText("A loud desk", { timeout: 15_000 });
  const single = await browser.newPage();
  await single.goto(\`\${baseURL}/demo/index.html\`);
  await expect(single.locator("h1")).toHaveText("A loud desk", { timeout: 15_000 });
});
test("another page is as it was", async ({ page }) => {
  await page.goto("/demo/cart.html");
  await expect(page.locator("h1")).not.toHaveText("A loud desk");
});`;

const APPLY_HEADING = step("apply_variant", {
  baseRevision: 0,
  add: [{ op: "setText", selector: "h1", text: "A loud desk" }],
});

/**
 * Runs the tests in a new session. If `withVariant` is true, the session has the variant.
 *
 * @returns the test run and the tool results.
 */
async function run(input: Record<string, unknown>, withVariant = true) {
  const { service, shop } = fixture;
  const steps = [
    ...(withVariant ? [APPLY_HEADING] : []),
    write("tests/heading.spec.ts", HEADING),
    ...runAndWait(input),
  ];
  const { session, results } = await playTurn(service, steps, { targetUrl: `${shop.url}/demo/index.html` });
  const [first] = await listRuns(service, session.sessionId);
  return {
    answers: results,
    run: await readRun(service, session.sessionId, first?.id ?? assert.fail(results.join("\n"))),
  };
}

const statuses = ({ results }: Awaited<ReturnType<typeof readRun>>) =>
  results.map(({ target, titles, status }) => `${target}: ${titles.join()}: ${status}`);

describe("a test run against control and variant", () => {
  itRuns(
    "tests both by default, with the variant in every page of its target and in no page of the control",
    async () => {
      const { run: both, answers } = await run({});
      assert.deepEqual(
        statuses(both),
        [
          "control: the heading: failed",
          "control: contexts and pages of the test's own: failed",
          "control: another page is as it was: passed",
          "variant: the heading: passed",
          "variant: contexts and pages of the test's own: passed",
          "variant: another page is as it was: passed",
        ],
        JSON.stringify(both.results.map(({ errors }) => errors)),
      );
      assert.deepEqual([both.against, both.variant, both.revision], [["control", "variant"], "main", 1]);
      assert.match(answers.at(-1) ?? "", /revision 1 of variant main\. 4 passed, 2 failed\./);
    },
  );

  itRuns("tests one of them if requested, and only the control if there is no variant", async () => {
    const variant = await run({ against: "variant" });
    assert.deepEqual([variant.run.status, variant.run.against], ["passed", ["variant"]]);
    const control = await run({ grep: "another" }, false);
    assert.deepEqual(
      [control.run.status, control.run.against, control.run.variant, control.run.revision],
      ["passed", ["control"], null, null],
    );
    assert.equal(control.run.results.length, 1);
  });
});
