import assert from "node:assert/strict";
import { waitFor } from "#lib/browser/testing.ts";
import { startNextShop } from "./runtime/frameworks/next-shop.ts";
import { playShop, recordShop, type ServedShop, serveShop } from "./runtime/frameworks/play-shop.ts";
import { react } from "./runtime/frameworks/react-shop.ts";
import { SHOP_CHANGES } from "./runtime/frameworks/shop-changes.ts";
import { svelte } from "./runtime/frameworks/svelte-shop.ts";
import { vue } from "./runtime/frameworks/vue-shop.ts";
import {
  type RuntimeBrowser,
  readReport,
  revert,
  scriptOf,
  startRuntimeBrowser,
  waitForState,
} from "./runtime/runtime-fixture.ts";

const MODES = ["development", "production"] as const;

type Outcome = { name: string; failures: string[] };

/** Tests every change on a shop, one after the other. */
async function playAll(
  browser: RuntimeBrowser,
  name: string,
  shop: ServedShop,
  log: (text: string) => void,
): Promise<Outcome> {
  const failures: string[] = [];
  for (const change of SHOP_CHANGES) {
    const problem = await playShop(browser, shop, [change]).then(() => undefined, String);
    log(`${name} ${change.id}: ${problem === undefined ? "passed" : `FAILED: ${problem}`}`);
    if (problem !== undefined) failures.push(change.id);
  }
  return { name, failures };
}

/** Tests changes of streamed content. Leaves the shop by a link and returns, twice. */
async function playNavigation(browser: RuntimeBrowser, url: string): Promise<void> {
  const script = scriptOf(url, [
    { op: "setHtml", selector: ".slow h2", html: "<i>Fast</i>" },
    { op: "insert", selector: ".slow", position: "before", html: "<p class='note'>Note</p>" },
    { op: "setText", selector: "h1", text: "Till" },
  ]);
  const { page, problems, close } = await browser.open(url, [script]);
  for (const visit of [1, 2]) {
    for (const id of ["c1", "c2", "c3"]) await waitForState(page, "applied", id);
    await page.click("text=Other >> nth=-1");
    await page.waitForSelector("text=Back");
    await waitFor(async () => (await readReport(page)).pages === 0, `leaving ${visit}`);
    assert.equal(await page.textContent("h1"), "Other");
    await page.click("text=Back");
    await page.waitForSelector(".slow");
  }
  await waitForState(page, "applied", "c2");
  await revert(page);
  assert.equal(await page.locator(".note").count(), 0);
  assert.deepEqual(problems, []);
  await close();
}

async function playNext(browser: RuntimeBrowser, log: (text: string) => void): Promise<Outcome> {
  const { url, close } = await startNextShop();
  try {
    const outcome = await playAll(
      browser,
      "Next",
      {
        url,
        bodies: await recordShop(browser, url),
        hold: null,
      },
      log,
    );
    const problem = await playNavigation(browser, url).then(() => undefined, String);
    log(`Next navigation: ${problem === undefined ? "passed" : `FAILED: ${problem}`}`);
    if (problem !== undefined) outcome.failures.push("navigation");
    return outcome;
  } finally {
    await close();
  }
}

/**
 * Tests each change separately on the tests' shop in each framework: as a development build and as a production build,
 * in Next only as a production build. Prints the results.
 *
 * @returns whether all changes passed
 */
export async function playShops(
  isChosen: (name: string) => boolean,
  log: (text: string) => void,
): Promise<boolean> {
  const browser = await startRuntimeBrowser();
  const outcomes: Outcome[] = [];
  try {
    for (const framework of [react, vue, svelte].filter(({ name }) => isChosen(name)))
      for (const mode of MODES) {
        const shop = await serveShop(browser, framework.name, await framework.build(mode));
        outcomes.push(await playAll(browser, `${framework.name} (${mode})`, shop, log));
      }
    if (isChosen("Next")) outcomes.push(await playNext(browser, log));
  } finally {
    await browser.close();
  }
  for (const { name, failures } of outcomes)
    console.log(
      `${name.padEnd(24)} ${failures.length === 0 ? "all changes passed" : `failed: ${failures.join(", ")}`}`,
    );
  return outcomes.every(({ failures }) => failures.length === 0);
}
