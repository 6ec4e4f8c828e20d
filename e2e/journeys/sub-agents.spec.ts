import { expect, type Page } from "@playwright/test";
import type { ScriptedModel, Step } from "../fixtures/scripted-model/types.ts";
import type { RunningService } from "../fixtures/service.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { GREEN, goTo, liveView, test } from "./journey.ts";

const tool = (name: string, input: object): Step => ({ toolCalls: [{ name, arguments: input }] });

/**
 * Opens a session with two sub-agents that work on their pages. One sub-agent submits its result after the test has
 * called `release`.
 */
async function openComparison(
  page: Page,
  { model, service, webPage }: { model: ScriptedModel; service: RunningService; webPage: { url: string } },
) {
  const released = Promise.withResolvers<void>();
  const children = [
    { name: "cart", objective: "[cart] Read the cart page.", browser: "own" },
    { name: "offer", objective: "[offer] Read the page with the offer.", browser: "own" },
  ];
  const turns: Record<string, Step[]> = {
    "[compare]": [
      tool("spawn_agents", { agents: children }),
      tool("wait_for_agents", {}),
      { text: "Both are read." },
    ],
    "[cart]": [
      goTo(webPage.url),
      { ...tool("submit_result", { result: { price: 12 } }), hold: released.promise, holdAt: "start" },
    ],
    "[offer]": [
      goTo(webPage.url),
      tool("report_progress", { text: "The offer is open." }),
      { text: "Never said.", hold: new Promise(() => {}), holdAt: "start" },
    ],
  };
  model.respondWith(({ userText, answersSoFar }) => {
    const steps = Object.entries(turns).find(([words]) => userText.includes(words))?.[1];
    return steps?.[Math.min(answersSoFar, steps.length - 1)];
  });
  const session = await service.create("[compare] the pages", { subAgents: true });
  await page.goto(service.baseUrl + session.shareUrl);
  return { session, release: released.resolve };
}

const banner = (page: Page) => page.getByRole("banner");
const rowOf = (page: Page, name: string) =>
  page
    .getByRole("list", { name: "Sub-agents" })
    .getByRole("listitem")
    .filter({ has: page.getByRole("link", { name }) });

test("a person watches two sub-agents, opens one and returns, stops one, and sees the result of the other", async ({
  page,
  stage,
}) => {
  const { release } = await openComparison(page, stage);
  await expect(banner(page).getByText("Waiting for 2 sub-agents")).toBeVisible();
  await page.getByRole("tab", { name: "Agents" }).click();
  const [cart, offer] = [rowOf(page, "cart"), rowOf(page, "offer")];
  await expect(cart.getByText("Working")).toBeVisible();
  await expect(offer.getByText("The offer is open.")).toBeVisible();
  for (const name of ["cart", "offer"]) {
    const picture = page.getByRole("img", { name: `The page of ${name}` });
    await expect
      .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
      .toBeGreaterThan(0);
  }

  await cart.getByRole("link", { name: "cart" }).click();
  await expect(page.getByRole("heading", { name: "cart", level: 1 })).toBeVisible();
  await expect(page.getByText("[cart] Read the cart page.")).toBeVisible();
  await expect(page.getByText("Opened /page")).toBeVisible();
  await expect(page.getByLabel("Message to the agent")).toHaveCount(0);
  await expect(
    page.getByText("A sub-agent gets messages only from the session that started it."),
  ).toBeVisible();
  const view = liveView(page);
  await expect.poll(() => view.colorAt(20, 20)).toEqual(GREEN);
  await page.reload();
  await expect(page.getByRole("heading", { name: "cart", level: 1 })).toBeVisible();
  await expect.poll(() => view.colorAt(20, 20)).toEqual(GREEN);

  await page.getByRole("link", { name: "Back to [compare] the pages" }).click();
  await expect(page.getByRole("heading", { name: "[compare] the pages", level: 1 })).toBeVisible();
  await offer.getByRole("button", { name: "Stop offer" }).click();
  await expect(offer.getByText("Stopped")).toBeVisible();
  await expect(banner(page).getByText("Waiting for 1 sub-agent")).toBeVisible();
  release();
  await expect(cart.getByText("Done")).toBeVisible();
  await cart.getByText("Result").click();
  await expect(cart.getByText("12")).toBeVisible();
  await expect(page.getByText("Both are read.")).toBeVisible();
  await expect(banner(page).getByText("Done")).toBeVisible();
});

test("a sub-agent is stopped on its own page, and its live view takes a person's clicks", async ({
  page,
  stage,
}) => {
  const { release } = await openComparison(page, stage);
  await page.getByRole("tab", { name: "Agents" }).click();
  await expect(rowOf(page, "offer").getByText("The offer is open.")).toBeVisible();
  await rowOf(page, "offer").getByRole("link", { name: "offer" }).click();
  const view = liveView(page);
  await expect.poll(() => view.colorAt(20, 20)).toEqual(GREEN);
  await view.takeOver();
  await view.click(300, 130);
  await page.keyboard.type("ship it");
  await expect.poll(() => stage.webPage.typed.at(-1)).toBe("ship it");
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(banner(page).getByText("Stopped")).toBeVisible();
  await expect(page.getByRole("button", { name: "Stop" })).toHaveCount(0);
  release();
});

test("a visitor who may only watch sees the sub-agents but cannot stop them; a visitor without a link sees nothing", async ({
  page,
  browser,
  cleanConsole,
  stage,
}) => {
  cleanConsole.allow(/status of 40[34]/);
  const { session, release } = await openComparison(page, stage);
  const { service } = stage;
  const created = await service.call("POST", `/api/sessions/${session.sessionId}/share-links`, {
    role: "view",
  });
  const { shareUrl } = await created.json();
  const guest = await (await browser.newContext()).newPage();
  await guest.goto(service.baseUrl + shareUrl);
  await guest.getByRole("tab", { name: "Agents" }).click();
  const cart = rowOf(guest, "cart");
  await expect(cart.getByText("Working")).toBeVisible();
  await expect(guest.getByRole("button", { name: /^Stop/ })).toHaveCount(0);
  const address = `${service.baseUrl}${await cart.getByRole("link").getAttribute("href")}`;
  const refused = await guest.evaluate(
    async (url) => (await fetch(url, { method: "POST" })).status,
    `${address}/actions/cancel`,
  );
  expect(refused).toBe(403);
  const stranger = await (await browser.newContext()).newPage();
  expect((await stranger.goto(address))?.status()).toBe(404);
  release();
  await guest.context().close();
  await stranger.context().close();
});

for (const viewport of [
  { width: 1280, height: 800 },
  { width: 375, height: 740 },
])
  test.describe(`at ${viewport.width} px`, () => {
    test.use({ viewport });

    test("the list of sub-agents and a sub-agent's page have no accessibility violations", async ({
      page,
      stage,
    }) => {
      const { release } = await openComparison(page, stage);
      if (viewport.width < 1024) await page.getByRole("button", { name: "Result" }).click();
      await page.getByRole("tab", { name: "Agents" }).click();
      await expect(rowOf(page, "offer").getByText("The offer is open.")).toBeVisible();
      await expectAccessible(page, "sub-agents at work");
      await rowOf(page, "cart").getByRole("link").click();
      await expect(page.getByText("A sub-agent gets messages only")).toBeVisible();
      await expectAccessible(page, "a sub-agent's page");
      release();
      await page.getByRole("link", { name: "Back to" }).click();
      await expect(rowOf(page, "cart").getByText("Done")).toBeVisible();
      await rowOf(page, "cart").getByText("Result").click();
      await expectAccessible(page, "a sub-agent with its result");
    });
  });
