import { expect, type Page } from "@playwright/test";
import { logInOn } from "../fixtures/log-in.ts";
import { script, test } from "./journey.ts";

test.use({ viewport: { width: 1280, height: 800 } });

/** Counts the bytes of scripts, as the service sends them, that a page loads before a person does anything. */
async function countScripts(page: Page, url: string): Promise<number> {
  const sizes: Promise<number>[] = [];
  page.on("requestfinished", (request) => {
    if (request.resourceType() !== "script") return;
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  await page.goto(url);
  await page.waitForLoadState("networkidle");
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  // A page whose scripts came from a cache would measure nothing.
  expect(bytes).toBeGreaterThan(50_000);
  return bytes;
}

test("the first load of a session page has at most 220 KB of scripts", async ({
  page,
  stage: { model, service },
}) => {
  const text =
    "# Done\n\nA **list**:\n\n- one\n- two\n\n```js\nconst a = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |";
  script(model, {
    "[weight]": [{ toolCalls: [{ name: "list_files", arguments: {} }] }, { text }],
  });
  const session = await service.create("[weight] Write a list");
  await service.completed(session.statusUrl);
  const bytes = await countScripts(page, service.baseUrl + session.shareUrl);
  test.info().annotations.push({ type: "scripts of the session page", description: `${bytes} bytes` });
  await expect(page.getByRole("region", { name: "Conversation" }).getByText("two")).toBeVisible();
  expect(bytes).toBeLessThanOrEqual(220_000);
});

test("the first load of the landing page has at most 150 KB of scripts", async ({
  page,
  browser,
  stage: { service },
}) => {
  await logInOn(page, await service.printLoginLink());
  // A new context, because the scripts of the login page would come from the cache.
  const context = await browser.newContext({ storageState: await page.context().storageState() });
  const fresh = await context.newPage();
  const bytes = await countScripts(fresh, service.baseUrl);
  test.info().annotations.push({ type: "scripts of the landing page", description: `${bytes} bytes` });
  await expect(fresh.getByRole("button", { name: "Start" })).toBeVisible();
  expect(bytes).toBeLessThanOrEqual(150_000);
  await context.close();
});
