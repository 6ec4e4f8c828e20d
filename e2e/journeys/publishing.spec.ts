import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, type Locator, type Page } from "@playwright/test";
import { openAsViewer, openEditedSession, records } from "./edited-session.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { type Stage, test } from "./journey.ts";

test.use({ viewport: { width: 1280, height: 800 }, permissions: ["clipboard-read", "clipboard-write"] });

const ADD = [
  { op: "setText", selector: "#offer", text: "Half price" },
  { op: "addClass", selector: "#offer", className: "reduced" },
];

/** Opens the Changes tab of a session whose agent changed the heading. */
async function openAtChanges(page: Page, stage: Stage, url?: string) {
  const session = await openEditedSession(page, stage, ADD, url);
  await openChanges(page);
  return session;
}

const openChanges = (page: Page) => records(page).getByRole("tab", { name: "Changes" }).click();
const dialog = (page: Page) => page.getByRole("dialog", { name: "Publication of main" });
const button = (within: Page | Locator, name: string) => within.getByRole("button", { name, exact: true });
const release = (page: Page, number: number) =>
  dialog(page)
    .getByRole("listitem")
    .filter({ hasText: `Release ${number}` });

/** Presses Tab until the button has the focus, as a person without a mouse does. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toBeEnabled();
  for (let presses = 0; presses < 40; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error("the focus does not reach the button");
}

async function pressButton(page: Page, name: string): Promise<void> {
  await tabTo(page, button(dialog(page), name));
  await page.keyboard.press("Enter");
}

/** Publishes the newest revision without a check, using only the keyboard. */
async function publishUnchecked(page: Page, revision: number): Promise<void> {
  await pressButton(page, "Publish without a check");
  const confirm = button(dialog(page), `Publish revision ${revision} unchecked`);
  await expect(confirm).toBeFocused();
  await page.keyboard.press("Enter");
}

/** Checks a state with axe at the widths of a desktop and of a phone. */
async function expectAccessibleEverywhere(page: Page, what: string): Promise<void> {
  await expectAccessible(page, what);
  await page.setViewportSize({ width: 375, height: 740 });
  await expectAccessible(page, what);
  await page.setViewportSize({ width: 1280, height: 800 });
}

test("a person publishes without a check, publishes an edit, rolls back and unpublishes, all by keyboard", async ({
  page,
  stage,
}) => {
  const { service } = stage;
  const session = await openAtChanges(page, stage);
  await button(page, "Publish").press("Enter");
  await expect(dialog(page)).toBeFocused();
  await expect(dialog(page)).toContainText("Revision 1 was not checked.");
  await expect(dialog(page).getByText("No releases yet.")).toBeVisible();
  await pressButton(page, "Publish without a check");
  await expect(dialog(page)).toContainText("Its release stays marked as unchecked.");
  await expectAccessibleEverywhere(page, "the confirmation of publishing without a check");
  await pressButton(page, "Cancel");
  await expect(button(dialog(page), "Publish without a check")).toBeFocused();
  await publishUnchecked(page, 1);
  await expect(dialog(page)).toContainText("Release 1 is published.");
  await expect(dialog(page)).toContainText("as release 1, without a check that passed.");
  await expect(release(page, 1)).toHaveText(/Unchecked.*Current.*Revision 1, by a person, just now/);

  const listed = await service.call("GET", `/api/sessions/${session.sessionId}/variants`);
  const { publication } = (await listed.json()).data[0];
  const tag = `<script async src="${publication.scriptUrl}"></script>`;
  await expect(dialog(page).getByText(tag, { exact: true })).toBeVisible();
  await expect(
    dialog(page).getByText(
      `<script async src="${publication.pinnedScriptUrl}" integrity="${publication.integrity}" crossorigin="anonymous"></script>`,
    ),
  ).toBeVisible();
  await tabTo(page, button(dialog(page).getByRole("group", { name: "Current release" }), "Copy"));
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(tag);
  expect(await (await fetch(publication.scriptUrl)).text()).toContain("Half price");
  await expectAccessibleEverywhere(page, "a published variant");
  await page.keyboard.press("Escape");
  await expect(button(page, "Revision 1 published unchecked")).toBeFocused();

  await button(page, "Edit: Text of #offer").click();
  await page.getByRole("textbox", { name: "Text of #offer" }).fill("Free today");
  await page.keyboard.press("Enter");
  await expect(records(page).getByText(/Revision 2.*by a person/)).toBeVisible();
  await button(page, "Revision 1 published unchecked").press("Enter");
  await publishUnchecked(page, 2);
  await expect(release(page, 2)).toHaveText(/Current/);
  await expect(release(page, 1)).not.toHaveText(/Current/);
  expect(await (await fetch(publication.scriptUrl)).text()).toContain("Free today");

  await pressButton(page, "Make current: release 1");
  await expect(dialog(page)).toContainText("Release 1 is the current one.");
  await expect(release(page, 1)).toHaveText(/Current/);
  expect(await (await fetch(publication.scriptUrl)).text()).toContain("Half price");
  await expectAccessibleEverywhere(page, "a variant that was rolled back");

  await pressButton(page, "Unpublish");
  await expect(dialog(page)).toContainText("Pages that load the current release show the original");
  await page.keyboard.press("Enter");
  await expect(dialog(page)).toContainText("The variant is unpublished.");
  await expect(release(page, 1)).toHaveText(/Unpublished/);
  await expect(release(page, 2)).toHaveText(/Unpublished/);
  await expect(dialog(page).getByText("Script tag")).toHaveCount(0);
  expect(await (await fetch(publication.scriptUrl)).text()).not.toContain("Half price");
  await page.keyboard.press("Escape");
  await expect(button(page, "Publish")).toBeFocused();
});

/** Starts a page whose Content-Security-Policy allows no scripts of other origins. */
async function startGuardedPage() {
  const server = createServer((_, response) => {
    const policy = "script-src 'self' 'unsafe-inline'";
    const html = `<!doctype html><html lang="en"><title>Guarded</title><link rel="icon" href="data:,"><h1 id="offer">The offer</h1><p id="menu" hidden>Menu</p></html>`;
    response
      .writeHead(200, { "content-type": "text/html; charset=utf-8", "content-security-policy": policy })
      .end(html);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/offer`, host: `127.0.0.1:${port}`, close: () => server.close() };
}

test("a revision is published after its check passed, and a person accepted what it could not examine", async ({
  page,
  browser,
  stage,
}) => {
  const guarded = await startGuardedPage();
  const add = [...ADD, { op: "setText", selector: "#menu", text: "Our menu" }];
  const { sessionId } = await openEditedSession(page, stage, add, guarded.url);
  await openChanges(page);
  await button(page, "Publish").click();
  await button(dialog(page), "Check revision 1").click();
  const unexamined = (within: Page | Locator) => within.getByRole("region", { name: "Not examined changes" });
  const accept = button(unexamined(dialog(page)), "Accept 1 change without examination");
  await expect(accept).toBeVisible({ timeout: 180_000 });
  await expect(unexamined(dialog(page))).toContainText(
    /Nothing failed.*Text of #menu.*not visible.*desktop, phone/,
  );
  await expect(button(dialog(page), "Publish revision 1")).toHaveCount(0);
  await expect(dialog(page).getByText("Check not passed")).toBeVisible();
  await expectAccessibleEverywhere(page, "what a check could not examine");
  const guest = await openAsViewer(browser, stage.service, sessionId);
  await openChanges(guest);
  await button(guest, "Check").click();
  await expect(unexamined(guest)).toContainText("Text of #menu");
  await expect(unexamined(guest).getByRole("button")).toHaveCount(0);

  await accept.press("Enter");
  const publish = button(dialog(page), "Publish revision 1");
  await expect(publish).toBeVisible();
  await expect(dialog(page).getByText("Passed with warnings")).toBeVisible();
  await expect(unexamined(guest)).toHaveCount(0);
  await expect(records(guest).getByText("Not examined, accepted by a person")).toBeVisible();
  await guest.context().close();
  const policy = dialog(page).getByRole("region", { name: "Content-Security-Policy" });
  await expect(policy).toContainText(`add ${stage.service.baseUrl} to script-src`);
  await expect(policy.getByRole("list", { name: "Pages" })).toHaveText(`${guarded.host}/offer`);
  await expectAccessibleEverywhere(page, "a checked revision before it is published");
  await publish.click();
  await expect(dialog(page)).toContainText("Revision 1 is published as release 1.");
  await expect(release(page, 1)).not.toHaveText(/Unchecked/);
  await page.keyboard.press("Escape");
  await expect(button(page, "Revision 1 published")).toBeVisible();
  await records(page).getByRole("tab", { name: "Result" }).click();
  await expect(records(page).getByText("Revision 1 published")).toBeVisible();
  guarded.close();
});

test("a revision that the person has not seen is not published", async ({ page, cleanConsole, stage }) => {
  cleanConsole.allow(/status of 409/);
  const { sessionId } = await openAtChanges(page, stage);
  await page.route(
    "**/variants/main/publish",
    async (route) => {
      // Stores a newer revision just before the request arrives, as if a second page had saved an edit.
      const path = `/s/${sessionId}/actions/variants/main/revisions`;
      const edits = [{ action: "setText", changeId: "c1", text: "Free today" }];
      await page.request.post(stage.service.baseUrl + path, {
        data: { baseRevision: 1, edits },
        headers: { origin: stage.service.baseUrl },
      });
      await route.continue();
    },
    { times: 1 },
  );
  await button(page, "Publish").click();
  await button(dialog(page), "Publish without a check").click();
  await button(dialog(page), "Publish revision 1 unchecked").click();
  await expect(dialog(page)).toContainText("Revision 1 was not published, because revision 2 is newer.");
  await expect(dialog(page)).toContainText("Look at its changes before you publish it.");
  await button(dialog(page), "Continue with revision 2").click();
  await button(dialog(page), "Publish without a check").click();
  await button(dialog(page), "Publish revision 2 unchecked").click();
  await expect(dialog(page)).toContainText("Revision 2 is published as release 1");
});

test("a visitor who may only watch sees the publication but cannot change it", async ({
  page,
  browser,
  cleanConsole,
  stage,
}) => {
  cleanConsole.allow(/status of 403/);
  const { sessionId } = await openAtChanges(page, stage);
  const guest = await openAsViewer(browser, stage.service, sessionId);
  await openChanges(guest);
  await button(guest, "Not published").click();
  await expect(dialog(guest)).toContainText("Revision 1 is not published.");
  await expect(dialog(guest).getByRole("button")).toHaveText([""]);
  await stage.service.call("POST", `/api/sessions/${sessionId}/variants/main/publish`, { unchecked: true });
  await expect(dialog(guest)).toContainText("Revision 1 is published as release 1");
  await expect(release(guest, 1)).toHaveText(/Current/);
  await expect(dialog(guest).getByRole("button")).toHaveText(["", "Copy", "Copy"]);
  await expectAccessible(guest, "the publication as a viewer sees it");
  const refused = await guest.evaluate(
    async (path) => (await fetch(path, { method: "POST" })).status,
    `/api/sessions/${sessionId}/variants/main/unpublish`,
  );
  expect(refused).toBe(403);
  await guest.keyboard.press("Escape");
  await button(guest, "Export").click();
  await expect(guest.getByRole("menuitem", { name: "Import" })).toHaveCount(0);
  await guest.getByRole("menuitem", { name: "Script tag" }).click();
  await expect(guest.getByRole("dialog", { name: "Script tag" })).toContainText("<script async src=");
  await guest.keyboard.press("Escape");
  await expect(button(guest, "Export")).toBeFocused();
  await guest.context().close();
});

test("a revision is exported as a file with a list of omitted changes, and a file is imported", async ({
  page,
  cleanConsole,
  stage,
}) => {
  cleanConsole.allow(/status of 400/);
  const { sessionId } = await openAtChanges(page, stage);
  await button(page, "Export").press("Enter");
  await expect(page.getByRole("menuitem", { name: "JSON" })).toBeVisible();
  await expect(page.getByRole("menuitem", { name: "Script tag" })).toHaveCount(0);
  const saved = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "PostHog" }).press("Enter");
  const download = await saved;
  expect(download.suggestedFilename()).toBe("main-r1.posthog.json");
  const left = page.getByRole("dialog", { name: "Changes left out" });
  await expect(left.getByRole("listitem")).toHaveText(/Added class reduced to #offer.*PostHog/);
  await expectAccessibleEverywhere(page, "the changes that an export left out");
  await page.keyboard.press("Escape");
  await expect(button(page, "Export")).toBeFocused();

  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Import" }).press("Enter");
  const form = page.getByRole("form", { name: "Import" });
  await form.getByLabel("Document").fill("{ no");
  await button(form, "Import").click();
  await expect(form.getByRole("alert")).toHaveText("The document is not valid JSON.");
  await expectAccessibleEverywhere(page, "the form that imports a file");
  await form.getByLabel("Document").fill('{"experiments":[]}');
  await button(form, "Import").click();
  await expect(form.getByRole("alert")).toHaveText(/^Nothing was imported: document/);
  await form.getByLabel("Format").selectOption("posthog");
  await form.getByLabel("File").setInputFiles(await download.path());
  await expect(form.getByLabel("Document")).toHaveValue(/Half price/);
  await button(form, "Import").click();
  await expect(page.getByRole("dialog").getByRole("status")).toHaveText(
    "The changes are stored as revision 2.",
  );
  const { revision: stored } = await stage.service.read<{
    revision: { author: string; document: { pages: { changes: unknown[] }[] } };
  }>(`/api/sessions/${sessionId}/variants/main/revisions/2`);
  expect(stored.author).toBe("person");
  expect(stored.document.pages[0]?.changes).toMatchObject([{ op: "setText", text: "Half price" }]);
});
