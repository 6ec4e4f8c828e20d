import { type Browser, expect, type Page } from "@playwright/test";
import { openAsViewer, records } from "./edited-session.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { type Stage, script, test } from "./journey.ts";

test.use({ viewport: { width: 1280, height: 800 }, permissions: ["clipboard-read", "clipboard-write"] });

const write = (path: string, content: string) => ({
  toolCalls: [{ name: "write_file", arguments: { path, content } }],
});
const deploy = (note: string) => ({
  toolCalls: [{ name: "deploy_landing_page", arguments: { folder: "Spring sale", note } }],
});
const html = (heading: string) =>
  `<!doctype html><html lang="en"><title>${heading}</title><link rel="stylesheet" href="style.css"><h1>${heading}</h1></html>`;

/** Opens a session whose agent deployed two versions of a landing page. */
async function openSession(page: Page, { model, service }: Stage) {
  script(model, {
    "[deploy]": [
      write("Spring sale/style.css", "h1 { color: rgb(0, 90, 90) }"),
      write("Spring sale/index.html", html("Spring sale")),
      deploy("First draft"),
      write("Spring sale/index.html", html("Half price")),
      deploy("A shorter headline"),
      { text: "The page is online." },
    ],
  });
  const session = await service.create("[deploy] Make a page");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("The page is online.")).toBeVisible();
  return session;
}

const openPages = (page: Page) => records(page).getByRole("tab", { name: "Pages" }).click();
const button = (page: Page, name: string) => records(page).getByRole("button", { name, exact: true });

/**
 * Checks a state with axe at the widths of a phone and of a desktop. Takes pictures if `SCREENSHOTS` names a folder.
 */
async function expectAccessibleEverywhere(page: Page, what: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  for (const [width, height] of [
    [375, 740],
    [1280, 800],
  ] as const) {
    await page.setViewportSize({ width, height });
    await expectAccessible(page, what);
    if (folder === undefined) continue;
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${folder}/${what}-${colorScheme}-${width}.png` });
    }
  }
}

/** Opens an address as a visitor without cookies. @returns the heading of the page. */
async function visit(browser: Browser, url: string): Promise<string> {
  const context = await browser.newContext();
  const guest = await context.newPage();
  await guest.goto(url);
  const heading = await guest.getByRole("heading").textContent();
  await context.close();
  return heading ?? "";
}

test("a person opens the agent's page, copies its address, serves an older version and unpublishes it", async ({
  page,
  browser,
  stage,
  cleanConsole,
}) => {
  cleanConsole.allow(/status of 410/);
  const session = await openSession(page, stage);
  const slug = /spring-sale-[0-9a-f]{10}/;
  await expect(page.getByText(/Deployed version 2 of spring-sale/).first()).toBeVisible();
  await openPages(page);
  const [listed] = await (async () => {
    const answer = await stage.service.call("GET", `/api/sessions/${session.sessionId}/pages`);
    return (await answer.json()).data;
  })();
  const entry = records(page).getByRole("region", { name: slug });
  await expect(entry).toContainText("Version 2 published");
  await expect(entry).toContainText("A shorter headline");
  await expect(entry).toContainText(/2 files, \d+ bytes/);
  await entry.getByRole("button", { name: "Copy address" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(listed.url);
  const opening = page.waitForEvent("popup");
  await entry.getByRole("link", { name: /opens in a new tab/ }).click();
  const opened = await opening;
  await expect(opened.getByRole("heading", { name: "Half price" })).toHaveCSS("color", "rgb(0, 90, 90)");
  expect(await opened.evaluate(() => window.opener)).toBeNull();
  await opened.close();

  await button(page, "Show versions").press("Enter");
  const versions = entry.getByRole("list");
  await expect(versions.getByRole("listitem")).toHaveText([
    /Version 2Current.*A shorter headline/,
    /Version 1.*First draft/,
  ]);
  await expectAccessibleEverywhere(page, "a landing page with its versions");
  await button(page, "Publish version 1").press("Enter");
  await expect(entry).toContainText("Version 1 is published.");
  await expect(entry).toContainText("Version 1 published");
  await expect(versions.getByRole("listitem").nth(1)).toHaveText(/Version 1Current/);
  expect(await visit(browser, listed.url)).toBe("Spring sale");

  await button(page, "Unpublish").press("Enter");
  await expect(entry).toContainText("Visitors will see that the page was unpublished.");
  await expectAccessibleEverywhere(page, "the confirmation of unpublishing a page");
  await button(page, "Cancel").press("Enter");
  await expect(button(page, "Unpublish")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(button(page, "Unpublish now")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(entry).toContainText("The page is unpublished.");
  await expect(entry.getByRole("link")).toHaveCount(0);
  expect(await visit(browser, listed.url)).toBe("This page was unpublished.");
  await expectAccessibleEverywhere(page, "an unpublished page");
  await button(page, "Publish version 2").press("Enter");
  await expect(entry).toContainText("Version 2 is published.");
  expect(await visit(browser, listed.url)).toBe("Half price");

  // The Result tab has a button that opens the Pages tab.
  await records(page).getByRole("tab", { name: "Result" }).click();
  await expectAccessibleEverywhere(page, "a landing page as the outcome");
  await records(page)
    .getByRole("button", { name: /Show page/ })
    .click();
  await expect(entry).toBeVisible();
});

test("a viewer sees the page and its versions but cannot change them; another person's change appears at once", async ({
  page,
  browser,
  stage,
}) => {
  const { sessionId } = await openSession(page, stage);
  const guest = await openAsViewer(browser, stage.service, sessionId);
  await openPages(guest);
  await button(guest, "Show versions").click();
  const entry = records(guest).getByRole("region", { name: /spring-sale/ });
  await expect(entry.getByRole("listitem")).toHaveCount(2);
  await expect(button(guest, "Unpublish")).toHaveCount(0);
  await expect(entry.getByRole("button", { name: /^Publish/ })).toHaveCount(0);
  await openPages(page);
  await button(page, "Unpublish").click();
  await button(page, "Unpublish now").click();
  await expect(entry).toContainText("Unpublished");
  await guest.context().close();
});
