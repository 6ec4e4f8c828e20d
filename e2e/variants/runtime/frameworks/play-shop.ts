import assert from "node:assert/strict";
import type { Page } from "playwright";
import { waitFor } from "#lib/browser/testing.ts";
import type { Change } from "#lib/variant/document.ts";
import { type RuntimeBrowser, readBody, readReport, revert, scriptOf } from "../runtime-fixture.ts";
import { type BuiltShop, FIRST_STATE, type ShopState } from "./framework.ts";

/**
 * The states that the shop shows one after the other. The states differ in their texts, in the order of the list items,
 * and in their elements.
 */
const STATES: ShopState[] = [
  { ...FIRST_STATE, count: 2 },
  { ...FIRST_STATE, count: 2, items: ["plum", "cherry", "apple"] },
  { ...FIRST_STATE, count: 3, items: [], hasSummary: false },
  { ...FIRST_STATE, count: 3, items: ["fig", "apple"] },
  { ...FIRST_STATE, count: 4, items: ["fig", "apple"], generation: 2 },
];

/** A shop that is served at an address. */
export type ServedShop = {
  url: string;
  /** Delays the client script until the returned function is called. Null if the server cannot delay the script. */
  hold: (() => () => void) | null;
  /** The HTML of the shop without a variant: after hydration, after each state, and after the shop was unmounted. */
  bodies: string[];
};

const readShop = (page: Page) => readBody(page, "#root");

const show = (page: Page, state: ShopState) =>
  page.evaluate(async (next) => await Reflect.get(window, "shop").show(next), state);
const unmount = (page: Page) => page.evaluate(() => Reflect.get(window, "shop").unmount());
const waitForShop = (page: Page) => page.waitForFunction(() => "shop" in window);

/**
 * Shows all states of the shop without a variant.
 *
 * @returns the HTML of the shop after hydration, each state, and unmounting.
 */
export async function recordShop(browser: RuntimeBrowser, url: string): Promise<string[]> {
  const { page, problems, close } = await browser.open(url);
  await waitForShop(page);
  const bodies = [await readShop(page)];
  for (const state of STATES) {
    await show(page, state);
    bodies.push(await readShop(page));
  }
  await unmount(page);
  bodies.push(await readShop(page));
  assert.deepEqual(problems, [], "the shop has problems without a variant");
  await close();
  return bodies;
}

/** Serves a shop on the test site, and records its HTML in all states without a variant. */
export async function serveShop(browser: RuntimeBrowser, name: string, shop: BuiltShop): Promise<ServedShop> {
  const folder = `/${name.toLowerCase()}`;
  const client = { headers: { "content-type": "text/javascript" }, body: shop.client };
  const url = browser.serve(folder, shop.html.replace("/client.js", `${folder}/client.js`));
  browser.serve(`${folder}/client.js`, client);
  return {
    url,
    bodies: await recordShop(browser, url),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      browser.serve(`${folder}/client.js`, { ...client, until: promise });
      return resolve;
    },
  };
}

/** Waits until hydration has ended and every change is applied to every element that it matches. */
async function waitUntilApplied(page: Page, what: string): Promise<void> {
  const isApplied = async () => {
    const { changes, isHydrating } = await readReport(page);
    const bad = changes.filter(({ state }) => state === "error" || state === "fight");
    assert.deepEqual(bad, [], what);
    return !isHydrating && changes.every(({ applied, matches }) => applied === matches);
  };
  await waitFor(isApplied, `changes to be applied: ${what}`);
}

/**
 * Shows all states of a shop that has changes. Asserts that the changes wait for hydration and come back after each
 * render. Asserts that reverting restores the HTML that the shop has without the changes, and that the framework
 * reports no problem.
 */
export async function playShop(browser: RuntimeBrowser, shop: ServedShop, changes: Change[]): Promise<void> {
  const script = scriptOf(shop.url, changes);
  const release = shop.hold?.();
  const first = await browser.open(shop.url, [script], "commit");
  if (release) {
    await first.page.waitForFunction(() => document.querySelector("footer"));
    const waiting = await readReport(first.page);
    assert.ok(waiting.isHydrating);
    for (const { state } of waiting.changes) assert.equal(state, "waiting");
    release();
  }
  await waitForShop(first.page);
  await waitUntilApplied(first.page, "after hydration");
  const hydrated = await readReport(first.page);
  for (const change of hydrated.changes) assert.equal(change.state, "applied", JSON.stringify(change));

  for (const [index, state] of [undefined, ...STATES].entries()) {
    if (state) await show(first.page, state);
    await waitUntilApplied(first.page, `state ${index}`);
    await revert(first.page);
    assert.equal(await readShop(first.page), shop.bodies[index], `reverted in state ${index}`);
    await first.page.evaluate(script);
  }
  await unmount(first.page);
  await waitUntilApplied(first.page, "unmounted");
  assert.equal(await readShop(first.page), shop.bodies.at(-1));
  assert.deepEqual(first.problems, []);
  await first.close();
  await playWithoutReverting(browser, shop, script);
}

async function playWithoutReverting(
  browser: RuntimeBrowser,
  shop: ServedShop,
  script: string,
): Promise<void> {
  const { page, problems, close } = await browser.open(shop.url, [script]);
  await waitForShop(page);
  for (const [index, state] of STATES.entries()) {
    await show(page, state);
    await waitUntilApplied(page, `state ${index + 1}, not reverted before`);
  }
  await revert(page);
  assert.equal(await readShop(page), shop.bodies.at(-2));
  await show(page, FIRST_STATE);
  await unmount(page);
  assert.equal(await readShop(page), shop.bodies.at(-1));
  assert.deepEqual(problems, []);
  await close();
}
