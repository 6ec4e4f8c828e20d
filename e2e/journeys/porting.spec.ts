import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, type Page } from "@playwright/test";
import { openAsViewer, openEditedSession, records } from "./edited-session.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { script, test } from "./journey.ts";

test.use({ viewport: { width: 1280, height: 800 } });

const ADD = [{ op: "setText", selector: "#offer", text: "Half price" }];

/** Checks a state with axe at the widths of a desktop and of a phone. */
async function expectAccessibleEverywhere(page: Page, what: string): Promise<void> {
  for (const width of [375, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await expectAccessible(page, what);
  }
}

async function save(page: Page, name: string): Promise<string> {
  await page.getByRole("button", { name: "More" }).press("Enter");
  const saved = page.waitForEvent("download");
  await page.getByRole("menuitem", { name }).press("Enter");
  const download = await saved;
  expect(download.suggestedFilename()).toMatch(/^edit-change-the-page\.session\.(json|html)$/);
  return download.path();
}

async function openImport(page: Page): Promise<void> {
  await page.getByRole("button", { name: "More" }).press("Enter");
  await page.getByRole("menuitem", { name: "Import" }).press("Enter");
}

test("a person exports a session, and imports it into another one", async ({
  page,
  browser,
  cleanConsole,
  stage,
}) => {
  cleanConsole.allow(/status of 40[03]/);
  await openEditedSession(page, stage, ADD);
  const json = await save(page, "Export as JSON");
  const html = await save(page, "Export as HTML");
  const exported = JSON.parse(await readFile(json, "utf8"));
  expect(exported.variants[0].document.pages[0].changes[0].text).toBe("Half price");
  expect(await readFile(html, "utf8")).toContain("Half price");

  script(stage.model, { "[target]": [{ text: "Nothing to do." }] });
  const target = await stage.service.create("[target] Wait");
  await page.goto(stage.service.baseUrl + target.shareUrl);
  await expect(page.getByText("Nothing to do.")).toBeVisible();
  await openImport(page);
  const form = page.getByRole("form", { name: "Import" });
  const folder = await mkdtemp(join(tmpdir(), "porting-journey-"));
  const wrong = join(folder, "wrong.json");
  await writeFile(wrong, '{"format":"agent-session","version":2}');
  await form.getByLabel("File").setInputFiles(wrong);
  await form.getByRole("button", { name: "Import" }).click();
  await expect(form.getByRole("alert")).toHaveText(
    "Nothing was imported: version: must be 1, the version that this service reads",
  );
  await expectAccessibleEverywhere(page, "the form that imports a session");
  await form.getByLabel("File").setInputFiles(json);
  await form.getByRole("button", { name: "Import" }).click();
  const dialog = page.getByRole("dialog", { name: "Import" });
  await expect(dialog.getByRole("status")).toHaveText("Imported variant main, a conversation of 4 messages.");
  await dialog.getByText(/^Not imported/).click();
  await expect(dialog.getByRole("list", { name: "Not imported" })).toContainText("session");
  await expectAccessibleEverywhere(page, "what was imported");
  await page.keyboard.press("Escape");

  const imported = page.getByRole("region", { name: "Imported conversation: [edit] Change the page" });
  await imported.getByRole("button", { name: /Imported conversation/ }).press("Enter");
  await expect(imported.getByRole("article").last()).toContainText("The page is changed.");
  await expect(imported).toContainText("Changed the page");
  await expectAccessibleEverywhere(page, "an imported conversation");
  await records(page).getByRole("tab", { name: "Changes" }).click();
  await expect(records(page).getByText("Half price")).toBeVisible();

  // A visitor who may only watch can export and read the session, but cannot import.
  const guest = await openAsViewer(browser, stage.service, target.sessionId);
  await guest.getByRole("button", { name: "More" }).press("Enter");
  await expect(guest.getByRole("menuitem", { name: "Export as HTML" })).toBeVisible();
  await expect(guest.getByRole("menuitem", { name: "Import" })).toHaveCount(0);
  const refused = await guest.evaluate(
    async (path) =>
      (await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }))
        .status,
    `/s/${target.sessionId}/actions/import`,
  );
  expect(refused).toBe(403);
  await guest.context().close();
  await rm(folder, { recursive: true, force: true });
});
