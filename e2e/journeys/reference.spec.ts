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

test("the slash at the end of the reference's address is removed", async ({ stage }) => {
  const answer = await fetch(`${stage.service.baseUrl}/docs/`, { redirect: "manual" });
  expect([answer.status, answer.headers.get("location")]).toEqual([308, "/docs"]);
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
  await page.getByText("Contents", { exact: true }).click();
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

test("the reference has working buttons under its own content policy, and is the same for everybody", async ({
  page,
  stage,
}) => {
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  await page.goto(`${stage.service.baseUrl}/docs`);
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitemradio", { name: "Dark" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await expect(page.getByRole("button", { name: "Copy: Request" }).first()).toBeVisible();
  expect(problems).toEqual([]);

  const answers = await Promise.all([1, 2].map(() => fetch(`${stage.service.baseUrl}/docs`)));
  const [first, second] = await Promise.all(answers.map((answer) => answer.text()));
  expect(second).toBe(first);
  const tags = answers.map(({ headers }) => headers.get("etag"));
  expect(tags[1]).toBe(tags[0]);
});

test("there is no image optimizer, which would fill the disk with its results", async ({ stage }) => {
  const image = new URL("/_next/image?url=%2Ficon.svg&w=64&q=75", stage.service.baseUrl);
  expect((await fetch(image)).status).toBe(404);
});
