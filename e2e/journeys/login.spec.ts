import { expect } from "@playwright/test";
import { test } from "./journey.ts";

test("an invalid login link explains why, and names the command that prints a new one", async ({
  page,
  stage: { service },
}) => {
  await page.goto(`${service.baseUrl}/login?token=of-yesterday`);
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
  await page.goto(await service.printLoginLink());
  await otherPage.goto(await service.printLoginLink());
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
