import { expect, type Page } from "@playwright/test";
import { waitUntil } from "../fixtures/service.ts";
import { goTo, liveView, PLACES, script, test } from "./journey.ts";

test.use({ viewport: { width: 1400, height: 900 } });

/**
 * The position of the annotation button on a page of 1280 × 800 pixels. The menu of the button opens above the button.
 */
const ANNOTATE = { x: 1230, y: 772 };

type Stage = Parameters<Parameters<typeof test>[2]>[0]["stage"];

/** Opens a session whose agent has navigated to the web page. */
async function openPage(page: Page, { model, service, webPage }: Stage) {
  script(model, { "[open]": [goTo(webPage.url), { text: "The page is open." }] });
  const session = await service.create("[open] the page");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("The page is open.")).toBeVisible();
  await expect(liveView(page).canvas).toBeVisible();
  return session;
}

test("a person clicks and types through the live view into the real page", async ({ page, stage }) => {
  await openPage(page, stage);
  const live = liveView(page);
  const typedBefore = stage.webPage.typed.length;
  await live.takeOver();
  await live.click(PLACES.field.x, PLACES.field.y);
  await page.keyboard.type("Grüße, Ada!");
  await waitUntil(() => stage.webPage.typed.at(-1) === "Grüße, Ada!", "the text has arrived");
  await page.keyboard.press("Backspace");
  await waitUntil(() => stage.webPage.typed.at(-1) === "Grüße, Ada", "the last letter is gone");
  expect(stage.webPage.typed.length - typedBefore).toBe(12);
  await page.keyboard.press("Escape");
  await expect(page.getByText("You have control")).toBeVisible();
  await page.getByRole("button", { name: "Give back" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Give back" }).click();
  await expect(page.getByText("You have control")).toHaveCount(0);
});

test("a person annotates an element through the live view, and all viewers see it", async ({
  page,
  stage,
}) => {
  const { sessionId } = await openPage(page, stage);
  const live = liveView(page);
  await live.takeOver();
  await live.click(ANNOTATE.x, ANNOTATE.y);
  await live.move(PLACES.heading.x - 5, PLACES.heading.y);
  await live.click(PLACES.heading.x, PLACES.heading.y);
  await page.keyboard.type("Make it larger");
  await page.keyboard.press("Enter");
  await live.click(ANNOTATE.x - 60, ANNOTATE.y - 42);

  const records = page.getByRole("region", { name: "Result and records" });
  await records.getByRole("tab", { name: /Annotations/ }).click();
  await expect(records.getByText("Make it larger")).toBeVisible();
  await expect(records.getByText("#offer")).toBeVisible();
  const { data } = await stage.service.read<{ data: object[] }>(`/api/sessions/${sessionId}/annotations`);
  expect(data).toMatchObject([
    { event: "submit", annotations: [{ selector: "#offer", comment: "Make it larger" }] },
  ]);
});

test("two viewers watch the same browser, and see the number of viewers", async ({
  page,
  browser,
  stage,
}) => {
  const { shareUrl } = await openPage(page, stage);
  const context = await browser.newContext();
  const other = await context.newPage();
  await other.goto(stage.service.baseUrl + shareUrl);
  await expect(liveView(other).canvas).toBeVisible();
  await expect(page.getByText("2 watching")).toBeVisible();
  await expect.poll(async () => (await liveView(other).picture()).length).toBeGreaterThan(1_000);
  await context.close();
  await expect(page.getByText("2 watching")).toHaveCount(0);
});

test("liveViewUrl shows only the live view", async ({ page, stage }) => {
  const { sessionId } = await openPage(page, stage);
  const { liveViewUrl } = await stage.service.read<{ liveViewUrl: string }>(
    `/api/sessions/${sessionId}/browser`,
  );
  await page.goto(liveViewUrl);
  const live = liveView(page);
  await expect(live.canvas).toBeVisible();
  await expect(page.getByLabel("Message to the agent")).toHaveCount(0);
  await live.takeOver();
  await live.click(PLACES.field.x, PLACES.field.y);
  await page.keyboard.type("x");
  await waitUntil(() => stage.webPage.typed.at(-1)?.endsWith("x") === true, "the text has arrived");
});

test("on a narrow page the parts are tabs, and the composer stays visible", async ({ page, stage }) => {
  await page.setViewportSize({ width: 390, height: 780 });
  script(stage.model, { "[open]": [goTo(stage.webPage.url), { text: "The page is open." }] });
  const session = await stage.service.create("[open] the page");
  await page.goto(stage.service.baseUrl + session.shareUrl);
  await expect(page.getByText("The page is open.")).toBeVisible();
  const composer = page.getByLabel("Message to the agent");
  const live = liveView(page);
  await expect(live.canvas).toBeHidden();
  const parts = page.getByRole("navigation", { name: "Parts of the session" });
  await parts.getByRole("button", { name: "Browser" }).click();
  await expect(live.canvas).toBeVisible();
  await expect(page.getByText("The page is open.")).toBeHidden();
  await expect(composer).toBeInViewport();
  await parts.getByRole("button", { name: "Result" }).click();
  await expect(page.getByRole("tabpanel")).toBeVisible();
  await expect(composer).toBeInViewport();
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
});
