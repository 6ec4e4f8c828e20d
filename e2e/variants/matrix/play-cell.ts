import assert from "node:assert/strict";
import { waitFor } from "#lib/browser/testing.ts";
import { readBody, readReport, revert, scriptOf } from "../runtime/runtime-fixture.ts";
import type { MatrixBrowser, MatrixPage } from "./browsers/matrix-browser.ts";
import type { FrontServer } from "./front-server.ts";
import type { MatrixOperation } from "./matrix-changes.ts";

/** The steps of a cell, in their order. */
export const STEPS = ["load", "render again", "submit", "leave and Back", "revert"] as const;
export type Step = (typeof STEPS)[number];

/** What the page shows in each step without a variant, and after reverting. */
export type Baseline = { probes: string[]; other: string; bodies: string[]; problems: string[] };

/** A failed cell: the step in which it failed, and why. */
export type CellFailure = { step: Step; reason: string };

const WAIT_MAX_MS = 15_000;

/** Reads parts of the page that show the page's own state and that no operation of the matrix changes. */
const readProbe = (page: MatrixPage): Promise<string> =>
  page.evaluate(() => {
    const texts = (selector: string) => all(selector).map(({ textContent }) => textContent);
    const items = all("#list li.item").map(({ dataset }) => dataset.id ?? "");
    return JSON.stringify([
      texts("#again"),
      texts("#thanks"),
      texts("footer"),
      items.sort(),
      all("main").length,
    ]);
  });

/**
 * Waits until a function returns true in the page. While the page goes from one document to the next, it cannot answer.
 *
 * @throws Error with the page's last answer
 */
async function waitUntil<Args extends unknown[]>(
  page: MatrixPage,
  what: string,
  isDone: (...args: Args) => boolean,
  ...args: Args
): Promise<void> {
  let answer: unknown;
  const ask = async () => {
    answer = await page.evaluate(isDone, ...args).catch(String);
    return answer === true;
  };
  await waitFor(ask, what, WAIT_MAX_MS).catch((error) => assert.fail(`${error}: ${answer}`));
}

/** Matches what frameworks put into the body besides the shop: scripts, templates, announcements of the page's title. */
const FRAMEWORK = /<(script|template).*?<\/\1>|<div[^>]*announcer[^>]*>.*?<\/div>/gs;

/** The HTML of the body without the framework's own. */
const readShop = async (page: MatrixPage) => (await readBody(page)).replace(FRAMEWORK, "");

/** Reads the shop when two readings in a row are equal. A page that cannot answer is asked again. */
async function readSettledShop(page: MatrixPage): Promise<string> {
  let last: string | undefined;
  return waitFor(async () => {
    const before = last;
    last = await readShop(page).catch(() => undefined);
    return last === before && last;
  }, "the shop to settle");
}

const DIFFERENCE_CHARACTERS = 60;

/** Waits until the shop has this HTML. @throws Error with the first difference */
async function waitForShop(page: MatrixPage, expected: string | undefined): Promise<void> {
  let shop = "";
  const isEqual = async () => {
    shop = await readShop(page).catch(String);
    return shop === expected;
  };
  await waitFor(isEqual, "the shop", WAIT_MAX_MS).catch(() => {
    const end = Math.max(shop.length, expected?.length ?? 0);
    let index = 0;
    while (index < end && shop[index] === expected?.[index]) index++;
    const excerpt = (text = "") =>
      JSON.stringify(text.slice(Math.max(0, index - 20), index + DIFFERENCE_CHARACTERS));
    assert.fail(`the page has ${excerpt(shop)} instead of ${excerpt(expected)}`);
  });
}

/** Waits until the page's client code runs and has shown the late element, and until htmx has settled. */
const waitForClient = (page: MatrixPage) =>
  waitUntil(
    page,
    "the client code",
    () => all(".late").length === 1 && all("main").length === 1 && all(".htmx-settling").length === 0,
  );

/** The page's own actions, and what the page shows when they have had their effect. */
const act = {
  async "render again"(page: MatrixPage) {
    const next = await page.evaluate(() => Number(one("#again").textContent?.replace(/\D+/g, "")) + 1);
    await page.evaluate(() => void setTimeout(() => one("#again").click()));
    await waitUntil(
      page,
      "the next state",
      (count) => all("#again")[0]?.textContent === `Pay ${count}`,
      next,
    );
    await waitForClient(page);
  },
  async submit(page: MatrixPage) {
    await page.evaluate(() => {
      const field = one("#form [name=name]") as HTMLInputElement;
      field.value = "Ann";
      field.dispatchEvent(new Event("input", { bubbles: true }));
      setTimeout(() => one("#send").click());
    });
    await waitUntil(page, "the thanks", () => all("#thanks")[0]?.textContent === "Thanks Ann");
    await waitForClient(page);
  },
  async leave(page: MatrixPage) {
    await page.evaluate(() => void setTimeout(() => one("#leave").click()));
    await waitUntil(
      page,
      "the other page",
      () => all("h1")[0]?.textContent === "Other" && all("main").length === 0,
    );
  },
  async back(page: MatrixPage) {
    await page.evaluate(() => void setTimeout(() => history.back()));
    await waitForClient(page);
  },
};

/** Records what the app shows in each step without a variant. */
export async function recordBaseline(browser: MatrixBrowser, front: FrontServer): Promise<Baseline> {
  front.variant = null;
  const page = await browser.open(front.origin);
  const probes: string[] = [];
  const bodies: string[] = [];
  const record = async () => {
    probes.push(await readProbe(page));
    bodies.push(await readSettledShop(page));
  };
  await waitForClient(page);
  await record();
  await act["render again"](page);
  await record();
  await act.submit(page);
  await record();
  await act.leave(page);
  const other = await readSettledShop(page);
  await act.back(page);
  await record();
  await act["render again"](page);
  await record();
  const problems = await page.readProblems();
  await page.close();
  return { probes, other, bodies, problems };
}

/** Waits until the change is in place. @throws AssertionError that says what the page shows instead. */
async function waitUntilInPlace(
  page: MatrixPage,
  operation: MatrixOperation,
  probe: string | undefined,
): Promise<void> {
  let seen: unknown;
  const isInPlace = async () => {
    const report = await readReport(page);
    const state = report.changes[0]?.state ?? "no page";
    seen = await page.evaluate(operation.check).catch((error) => String(error).split("\n")[0]);
    if (seen === true && state === "applied") return true;
    seen = `${state}: ${seen}`;
    return false;
  };
  await waitFor(isInPlace, "the change", WAIT_MAX_MS).catch(() => assert.fail(String(seen)));
  assert.equal(await readProbe(page), probe, "the page's own state");
}

/**
 * Plays all steps of one operation on an app.
 *
 * @returns the first step that failed; null if the cell is right
 */
export async function playCell(
  browser: MatrixBrowser,
  front: FrontServer,
  operation: MatrixOperation,
  baseline: Baseline,
): Promise<CellFailure | null> {
  front.variant = scriptOf(`${front.origin}/`, [operation.change]);
  const page = await browser.open(front.origin);
  let step: Step = "load";
  try {
    await waitForClient(page);
    await waitUntilInPlace(page, operation, baseline.probes[0]);
    step = "render again";
    await act["render again"](page);
    await waitUntilInPlace(page, operation, baseline.probes[1]);
    step = "submit";
    await act.submit(page);
    await waitUntilInPlace(page, operation, baseline.probes[2]);
    step = "leave and Back";
    await act.leave(page);
    await waitForShop(page, baseline.other);
    await act.back(page);
    await waitUntilInPlace(page, operation, baseline.probes[3]);
    assert.deepEqual(await page.readProblems(), baseline.problems);
    step = "revert";
    await revert(page);
    await waitForShop(page, baseline.bodies[3]);
    await act["render again"](page);
    await waitForShop(page, baseline.bodies[4]);
    assert.deepEqual(await page.readProblems(), baseline.problems);
    return null;
  } catch (error) {
    const problems = await page.readProblems().catch((problem) => [`the page does not answer: ${problem}`]);
    return { step, reason: [error, ...problems].join("\n") };
  } finally {
    await page.close();
  }
}
