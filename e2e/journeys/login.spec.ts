import { expect } from "@playwright/test";
import { logInOn } from "../fixtures/log-in.ts";
import { test } from "./journey.ts";

test("a login link that a bot has opened still signs a person in, and its token leaves the address and the history", async ({
  page,
  browser,
  stage: { service },
}) => {
  const link = await service.printLoginLink();
  const bot = await browser.newContext();
  const botPage = await bot.newPage();
  await botPage.goto(link);
  await expect(botPage.getByRole("button", { name: "Sign in" })).toBeVisible();
  expect(await bot.cookies()).toEqual([]);
  await bot.close();

  await page.goto(service.baseUrl);
  await logInOn(page, link);
  await expect(page.getByRole("heading", { name: "Start a session" })).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL(`${service.baseUrl}/`);
});

for (const colorScheme of ["light", "dark"] as const)
  test(`the page of a login link fits a narrow screen in ${colorScheme} mode`, async ({
    page,
    stage: { service },
  }) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width: 320, height: 480 });
    await page.goto(`${service.baseUrl}/login?token=any`);
    await expect(page.getByRole("button", { name: "Sign in" })).toBeInViewport();
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
  });

test("an invalid login link explains why, and names the command that prints a new one", async ({
  page,
  cleanConsole,
  stage: { service },
}) => {
  await page.goto(`${service.baseUrl}/login?token=of-yesterday`);
  cleanConsole.allow(/401/);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).toHaveURL(`${service.baseUrl}/?login=expired`);
  await expect(page.getByRole("heading", { name: "This login link no longer works" })).toBeVisible();
  await expect(page.getByText("A login link works once", { exact: false })).toBeVisible();
  await expect(page.getByText("npm run login", { exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: "Copy the command" })).toBeVisible();

  await page.goto(service.baseUrl);
  await expect(page.getByRole("heading", { name: "Open a login link" })).toBeVisible();
});

test("the landing page lists the browsers that are signed in, ends another one, and logs out", async ({
  page,
  browser,
  stage: { service },
}) => {
  const other = await browser.newContext();
  const otherPage = await other.newPage();
  await logInOn(page, await service.printLoginLink());
  await logInOn(otherPage, await service.printLoginLink());
  await page.reload();
  const list = page.getByRole("region", { name: "Signed-in browsers" });
  await expect(list.getByText("This browser", { exact: true })).toHaveCount(1);
  // The list begins with this browser, which has no button. The other browsers come next, most recently used first. The
  // first button therefore ends the login of `other`.
  const rows = list.getByRole("listitem");
  const before = await rows.count();
  await list.getByRole("button", { name: "End the login of" }).first().click();
  await expect(rows).toHaveCount(before - 1);
  await otherPage.reload();
  await expect(otherPage.getByRole("heading", { name: "Open a login link" })).toBeVisible();
  await other.close();

  await page.getByRole("button", { name: "Log out" }).click();
  await expect(page.getByRole("heading", { name: "Open a login link" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "Open a login link" })).toBeVisible();
});
