import { type Browser, expect } from "@playwright/test";
import { script, test } from "./journey.ts";

test.use({ viewport: { width: 1280, height: 900 } });

/** Opens a link as another visitor: in a browser that does not have the first person's cookies. */
async function openAsVisitor(browser: Browser, url: string) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

test("a link is created, used and revoked in the share dialog", async ({
  page,
  browser,
  stage: { model, service },
}) => {
  script(model, { "[share]": [{ text: "Hello." }] });
  const session = await service.create("[share] hello");
  await page.goto(service.baseUrl + session.shareUrl);
  await page.getByRole("button", { name: "Share" }).click();
  const dialog = page.getByRole("dialog", { name: "Share" });
  await expect(dialog.getByText("No other links yet.")).toBeVisible();
  await expect(dialog.getByText(service.baseUrl + session.shareUrl)).toBeVisible();

  await dialog.getByLabel("Role").selectOption({ label: "Watch" });
  await dialog.getByLabel("Expires").selectOption({ label: "In a day" });
  await dialog.getByLabel("Label").fill("Design review");
  await dialog.getByRole("button", { name: "Create link" }).click();
  const form = dialog.getByRole("form", { name: "New link" });
  await expect(form.getByText("Copy it now", { exact: false })).toBeVisible();
  const link = await form.getByText(/^http:.*key=/).textContent();
  const row = dialog.getByRole("listitem").filter({ hasText: "Design review" });
  await expect(row).toContainText("Watches");
  await expect(row).toContainText("for 24 h");

  const visitor = await openAsVisitor(browser, link ?? "");
  await expect(
    visitor.getByText("You are watching. This link does not allow sending messages."),
  ).toBeVisible();
  await expect(visitor.getByRole("button", { name: "Share" })).toHaveCount(0);
  await row.getByRole("button", { name: "Revoke: Design review" }).click();
  await expect(row).toHaveCount(0);
  await expect(visitor.getByRole("banner").getByText("Disconnected")).toBeVisible();
  await visitor.context().close();
});

test("all links are revoked at once, and the page of the person who revokes them stays connected", async ({
  page,
  browser,
  stage: { model, service },
}) => {
  script(model, { "[all]": [{ text: "Hello." }], "[after]": [{ text: "Still here." }] });
  const session = await service.create("[all] hello");
  const old = service.baseUrl + session.shareUrl;
  await page.goto(old);
  const visitor = await openAsVisitor(browser, old);
  await expect(visitor.getByText("Hello.")).toBeVisible();
  // The response to the first read arrives after the revocation.
  const held = Promise.withResolvers<void>();
  let reads = 0;
  await page.route(/\/share-links(\?|$)/, async (route) => {
    if (route.request().method() === "GET") reads += 1;
    if (reads !== 1) return route.continue();
    const response = await route.fetch();
    await held.promise;
    return route.fulfill({ response });
  });
  await page.getByRole("button", { name: "Share" }).click();
  const dialog = page.getByRole("dialog", { name: "Share" });
  await dialog.getByRole("button", { name: "Revoke all links" }).click();
  await dialog.getByRole("button", { name: "Revoke all links now" }).click();
  const link = dialog.getByText(/^http:.*key=/);
  await expect(link).toBeVisible();
  held.resolve();
  await expect(visitor.getByRole("banner").getByText("Disconnected")).toBeVisible();
  await expect(dialog.getByText(old)).toHaveCount(0);
  const fresh = await link.textContent();
  expect(fresh).not.toBe(old);
  expect(reads).toBe(2);

  await page.keyboard.press("Escape");
  await page.getByLabel("Message to the agent").fill("[after] are you there?");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Still here.")).toBeVisible();
  await visitor.goto(fresh ?? "");
  await expect(visitor.getByText("Still here.")).toBeVisible();
  await visitor.context().close();
});
