import assert from "node:assert/strict";
import { after, before } from "node:test";
import { playTurn, script } from "../variants/variants-testing.ts";
import { itRuns, listRuns, openTestRunsService, readRun, runAndWait, write } from "./test-runs-testing.ts";

let fixture: Awaited<ReturnType<typeof openTestRunsService>>;
before(async () => {
  fixture = await openTestRunsService({ BROWSER_WEBDRIVER: "false" });
});
after(() => fixture.close());

const READ = `() => JSON.stringify([navigator.webdriver, navigator.userAgent, navigator.userAgentData.brands])`;
const IDENTITY = `import { expect, test } from "@playwright/test";
async function expectPerson(page) {
  await page.goto("/demo/index.html");
  const seen = await page.evaluate(${READ});
  expect(seen).toMatch(/^\\[false,.*Chrome.*Chromium/);
  expect(seen).not.toMatch(/headless/i);
}
test("the page of the test", ({ page }) => expectPerson(page));
test("a page of its own", async ({ browser }) => expectPerson(await browser.newPage()));`;

itRuns("with BROWSER_WEBDRIVER=false, scripts and test runs see the browser of a person", async () => {
  const { service, shop } = fixture;
  const steps = [
    script(`return await page.evaluate(${READ})`),
    write("tests/identity.spec.ts", IDENTITY),
    ...runAndWait({ baseUrl: shop.url }),
  ];
  const { session, results } = await playTurn(service, steps, { targetUrl: `${shop.url}/demo/index.html` });
  assert.match(results[0] ?? "", /\[false,.*Chrome.*Chromium/);
  assert.doesNotMatch(results[0] ?? "", /headless/i);
  const [run] = await listRuns(service, session.sessionId);
  const { results: tests } = await readRun(service, session.sessionId, run?.id ?? "");
  assert.deepEqual(
    tests.map(({ titles, status, errors }) => [titles.join(), status, errors.join()]),
    [
      ["the page of the test", "passed", ""],
      ["a page of its own", "passed", ""],
    ],
  );
});
