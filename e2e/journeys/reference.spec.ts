import { expect } from "@playwright/test";
import { contract } from "#lib/api/contract/contract.ts";
import { test } from "./journey.ts";

test("the reference has every operation, and its names link to their descriptions", async ({
  page,
  stage,
}) => {
  await page.goto(`${stage.service.baseUrl}/docs`);
  await expect(page).toHaveTitle("API reference · Agent Session Service");
  const names = await page.locator("main article h3").evaluateAll((titles) => titles.map(({ id }) => id));
  expect(names).toEqual(expect.arrayContaining([...Object.keys(contract), "openLive", "onRunCompleted"]));
  const create = page.getByRole("article", { name: "Create a session and start its first turn" });
  await expect(create).toContainText(`curl -s "${stage.service.baseUrl}/api/session"`);
  await create.getByRole("link", { name: "SessionCreated" }).first().click();
  await expect(page.getByRole("article", { name: "SessionCreated" })).toBeInViewport();
  await page.getByRole("link", { name: "Retarget the live browser" }).first().click();
  await expect(page.getByRole("article", { name: "Retarget the live browser" })).toBeInViewport();
});

test("the reference is readable on a narrow screen, in the dark scheme, and without scripts", async ({
  browser,
  stage,
}) => {
  const context = await browser.newContext({
    viewport: { width: 360, height: 740 },
    colorScheme: "dark",
    javaScriptEnabled: false,
  });
  const page = await context.newPage();
  await page.goto(`${stage.service.baseUrl}/docs`);
  await page.getByText("Contents").click();
  await page.getByRole("link", { name: "Follow a request's events" }).click();
  await expect(page.getByRole("article", { name: "Follow a request's events" })).toBeInViewport();
  const { width, background } = await page.evaluate(() => ({
    width: document.documentElement.scrollWidth,
    background: getComputedStyle(document.body).backgroundColor,
  }));
  expect(width).toBe(360);
  expect(background).not.toBe("rgb(255, 255, 255)");
  await context.close();
});
