import { expect } from "@playwright/test";
import { test } from "./journey.ts";

test("a login link that no longer works says why, and which command prints a new one", async ({
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
