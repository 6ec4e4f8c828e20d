import { readFile } from "node:fs/promises";
import { expect, type Locator, type Page } from "@playwright/test";
import { openAsViewer, records } from "./edited-session.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { goTo, type Stage, script, test } from "./journey.ts";

test.use({ viewport: { width: 1280, height: 800 } });

const SPEC = `import { expect, test } from "@playwright/test";

test.describe("the shop", () => {
  test("names what it sells", async ({ page }) => {
    await page.goto("/demo/index.html");
    await expect(page).toHaveTitle(/./);
  });

  test("greets its visitors", { annotation: { type: "issue", description: "SHOP-7" } }, async ({ page }) => {
    console.log("looking for the greeting");
    await test.step("open the shop", () => page.goto("/demo/index.html"));
    await test.step("look for the greeting", async () => {
      await expect(page.getByRole("heading", { level: 1 })).toHaveText("Welcome to a shop with a long name", { timeout: 500 });
    });
  });

  test.skip("takes returns", async () => {});
});
`;

const SLOW = `import { test } from "@playwright/test";

test("is quick", async () => {});
test("takes its time", async () => {
  await new Promise((done) => setTimeout(done, 100_000));
});
`;

const BROKEN = `import { expect, test } from "@playwright/test";
import { missing } from "./missing";

test("does not load", async () => expect(missing).toBe(1));
`;

const FLAKY = `import { expect, test } from "@playwright/test";

test("passes in its second attempt", async ({}, { retry }) => expect(retry).toBe(1));
`;

const write = (path: string, content: string) => ({
  toolCalls: [{ name: "write_file", arguments: { path, content } }],
});
const call = (name: string, input: Record<string, unknown> = {}) => ({
  toolCalls: [{ name, arguments: input }],
});

/** Opens a session whose agent wrote a test file, ran it, and waited for the results. */
async function openSessionWithTests(
  page: Page,
  { model, service, webPage }: Stage,
  against: "control" | "both",
) {
  const add = [{ op: "setText", selector: "h1", text: "Welcome to a shop with a long name" }];
  const edit = [goTo(`${service.baseUrl}/demo/index.html`), call("apply_variant", { baseRevision: 0, add })];
  script(model, {
    "[test]": [
      ...(against === "both" ? edit : [goTo(webPage.url)]),
      write("tests/shop.spec.ts", SPEC),
      call("run_tests", { files: ["tests/shop.spec.ts"], baseUrl: service.baseUrl, against }),
      call("wait_for_test_results"),
      { text: "The tests have run." },
    ],
    "[slow]": [
      write("tests/slow.spec.ts", SLOW),
      call("run_tests", { files: ["tests/slow.spec.ts"], baseUrl: service.baseUrl }),
      call("wait_for_test_results"),
      { text: "The slow tests are over." },
    ],
  });
  return openSession(page, service, "[test] Test the shop");
}

/** Creates a session, opens its page, and waits until the agent says that the tests have run. */
async function openSession(page: Page, service: Stage["service"], text: string) {
  const session = await service.create(text);
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("The tests have run.")).toBeVisible();
  return session;
}

const openTests = (page: Page) =>
  records(page)
    .getByRole("tab", { name: /^Tests/ })
    .click();
const run = (page: Page, number: number) =>
  records(page)
    .getByRole("list", { name: "Test runs" })
    .getByRole("button", { name: new RegExp(`^Test run ${number} `) });
const tests = (page: Page, file = "tests/shop.spec.ts") =>
  records(page).getByRole("list", { name: `Tests of ${file}` });
const testNamed = (page: Page, name: string) =>
  tests(page)
    .getByRole("listitem")
    .filter({ has: page.getByRole("heading", { level: 4, name }) });
const button = (within: Page | Locator, name: string) => within.getByRole("button", { name, exact: true });

/** Checks a state with axe at the widths of a desktop and of a phone. */
async function expectAccessibleEverywhere(page: Page, what: string): Promise<void> {
  await expectAccessible(page, what);
  await page.setViewportSize({ width: 375, height: 740 });
  await expectAccessible(page, what);
  await page.setViewportSize({ width: 1280, height: 800 });
}

test("a person reads a failure with its picture, steps and trace, and runs the tests again", async ({
  page,
  stage,
}) => {
  await openSessionWithTests(page, stage, "control");
  await expect(page.getByText("Started test run 1", { exact: true })).toBeVisible();
  await expect(page.getByText("1 passed, 1 failed, 1 skipped", { exact: true })).toBeVisible();
  await button(page, "Show test run 1").click();
  await expect(run(page, 1)).toHaveAttribute("aria-expanded", "true");
  await expect(run(page, 1)).toContainText("Failed");
  await expect(run(page, 1)).toContainText("1 failed, 1 skipped, 1 passed");
  await expect(tests(page).getByRole("heading", { level: 4 })).toHaveText([
    /the shop › greets its visitors.*Failed/,
    /the shop › names what it sells.*Passed/,
    /the shop › takes returns.*Skipped/,
  ]);
  await expectAccessibleEverywhere(page, "the results of a test run");

  await button(records(page), "Failed 1").click();
  await expect(records(page).getByText("1 of 3 tests are shown.")).toBeVisible();
  await expect(tests(page).getByRole("heading", { level: 4 })).toHaveCount(1);
  await button(records(page), "All 3").click();

  const failed = testNamed(page, "greets its visitors");
  await failed.getByRole("button", { name: "greets its visitors" }).press("Enter");
  const error = failed.getByRole("list", { name: "Errors" });
  await expect(error).toContainText("Welcome to a shop with a long name");
  await expect(error).toContainText("tests/shop.spec.ts:");
  await expect(failed.getByRole("list", { name: "Annotations" })).toHaveText("issue: SHOP-7");
  await expect(failed.getByRole("list", { name: "Steps" })).toContainText("look for the greeting (failed)");
  await failed.getByText("Output", { exact: true }).click();
  await expect(failed.getByText("looking for the greeting", { exact: true })).toBeVisible();
  await expectAccessibleEverywhere(page, "a failed test");

  await failed.getByRole("button", { name: "Open picture: screenshot" }).click();
  const picture = page.getByRole("dialog", { name: "screenshot" }).getByRole("img");
  await expect(picture).toBeVisible();
  await expect.poll(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1280);
  await page.keyboard.press("Escape");

  const saved = page.waitForEvent("download");
  await failed.getByRole("link", { name: "Download: trace" }).click();
  const trace = await saved;
  await expect(failed).toContainText(`npx playwright show-trace ${trace.suggestedFilename()}`);
  expect((await readFile(await trace.path())).subarray(0, 2).toString()).toBe("PK");

  await button(records(page), "Run again test run 1").press("Enter");
  await expect(run(page, 2)).toBeFocused();
  await expect(run(page, 2)).toHaveAttribute("aria-expanded", "true");
  await expect(run(page, 1)).toHaveAttribute("aria-expanded", "false");
  await expect(page.getByRole("status", { name: "Test runs" })).toHaveText(
    "Test run 2 failed: 1 failed, 1 skipped, 1 passed.",
    { timeout: 60_000 },
  );
  await expect(records(page).getByText(/^Control, started by a person, took/)).toBeVisible();
  await expect(tests(page).getByRole("heading", { level: 4 })).toHaveCount(3);
});

test("control and variant are side by side", async ({ page, stage }) => {
  await openSessionWithTests(page, stage, "both");
  await openTests(page);
  await expect(
    records(page).getByText(/^Control and variant main, revision 1, started by the agent/),
  ).toBeVisible();
  const greeting = testNamed(page, "greets its visitors");
  await expect(greeting.getByRole("heading", { level: 4 })).toContainText(
    /Control\s*Failed.*Variant\s*Passed/,
  );
  await greeting.getByRole("button", { name: "greets its visitors" }).click();
  await expect(
    greeting.getByRole("group", { name: "Control" }).getByRole("list", { name: "Errors" }),
  ).toBeVisible();
  await expect(
    greeting.getByRole("group", { name: "Variant" }).getByRole("list", { name: "Errors" }),
  ).toHaveCount(0);
  await expectAccessibleEverywhere(page, "a test of control and variant");
});

test("a long run shows its progress and is cancelled; a visitor who may only watch has no buttons", async ({
  page,
  browser,
  stage,
}) => {
  const { sessionId } = await openSessionWithTests(page, stage, "control");
  await stage.service.call("POST", `/api/sessions/${sessionId}/agent/messages`, {
    text: "[slow] Test once more",
  });
  await openTests(page);
  await expect(run(page, 2)).toContainText("Running");
  const bar = records(page).getByRole("progressbar", { name: "Tests of test run 2" });
  await expect(bar).toHaveAttribute("aria-valuetext", "1 of 2");
  await expect(records(page).getByText("1 of 2", { exact: true })).toBeVisible();
  await expect(page.getByRole("region", { name: "Message" })).toContainText("Waiting for test results");
  await expectAccessibleEverywhere(page, "a test run that is under way");

  await run(page, 1).click();
  await expect(records(page).getByText("Test run 2 has to end before another one starts.")).toBeVisible();
  await run(page, 2).click();
  const guest = await openAsViewer(browser, stage.service, sessionId);
  await openTests(guest);
  await expect(guest.getByRole("progressbar")).toBeVisible();
  await expect(records(guest).getByRole("button", { name: /^(Cancel|Run again)/ })).toHaveCount(0);

  await button(records(page), "Cancel test run 2").press("Enter");
  await expect(run(page, 2)).toContainText("Cancelled");
  await expect(button(records(page), "Run again test run 2")).toBeFocused();
  await expect(records(page).getByText("The test run was cancelled.")).toBeVisible();
  await expect(page.getByRole("status", { name: "Test runs" })).toHaveText(/^Test run 2 was cancelled: /);
  await expect(run(guest, 2)).toContainText("Cancelled");
  await expect(page.getByText("The slow tests are over.")).toBeVisible();
  await expectAccessibleEverywhere(page, "a cancelled test run");
  await guest.context().close();
});

test("a run that could not load a file says why, and a failed read of results can be retried", async ({
  page,
  cleanConsole,
  stage: { model, service, webPage },
}) => {
  cleanConsole.allow(/ERR_FAILED/);
  script(model, {
    "[broken]": [
      goTo(webPage.url),
      write("tests/broken.spec.ts", BROKEN),
      write("tests/flaky.spec.ts", FLAKY),
      call("run_tests", { files: ["tests/broken.spec.ts"] }),
      call("wait_for_test_results"),
      call("run_tests", { files: ["tests/flaky.spec.ts"], retries: 1, viewport: "phone" }),
      call("wait_for_test_results"),
      { text: "The tests have run." },
    ],
  });
  await openSession(page, service, "[broken] Test the shop");
  await openTests(page);
  await expect(run(page, 2)).toContainText(/Passed.*1 flaky/);
  await tests(page, "tests/flaky.spec.ts").getByRole("button").click();
  await expect(records(page).getByText("2 attempts")).toBeVisible();
  await expect(records(page).getByRole("list", { name: "Errors" })).toContainText("Expected: 1");
  await records(page).getByText("Options of the run").click();
  await expect(records(page).getByText("phone", { exact: true })).toBeVisible();
  await expectAccessibleEverywhere(page, "a flaky test");

  await page.route(/\/tests\/tst_/, (route) => route.abort());
  await run(page, 1).click();
  await expect(records(page).getByText(/Cannot find module '\.\/missing'/)).toBeVisible();
  await expect(records(page).getByRole("alert")).toContainText(
    "The results could not be read: The service did not answer.",
  );
  await expectAccessibleEverywhere(page, "results that could not be read");
  await page.unroute(/\/tests\/tst_/);
  await button(records(page), "Try again").click();
  await expect(records(page).getByText("No test ran, so there are no results.")).toBeVisible();
});
