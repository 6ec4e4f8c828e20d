import { expect, type Page } from "@playwright/test";
import { openAsViewer, openEditedSession, records } from "./edited-session.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { GREEN, goTo, liveView, PLACES, type Stage, script, test } from "./journey.ts";

test.use({ viewport: { width: 1400, height: 900 } });

/** Changes that set the text of the heading and remove the blinking box. */
const CHANGES = [
  { op: "setText", selector: "#offer", text: "Half price" },
  { op: "remove", selector: "#blink", note: "It distracts." },
];

const tab = (page: Page, name: string) => records(page).getByRole("tab", { name });
const openChanges = async (page: Page) => {
  await tab(page, "Changes").click();
  await expect(records(page).getByText("Text of #offer")).toBeVisible();
};
const applySwitch = (page: Page, name: string) => page.getByRole("switch", { name: `Apply: ${name}` });
const expectAtBox = (page: Page) => expect.poll(() => liveView(page).colorAt(PLACES.blink.x, PLACES.blink.y));

test("a person edits the agent's variant, switches changes and the variant off and on, and drops a change", async ({
  page,
  stage,
}) => {
  await openEditedSession(page, stage, CHANGES);
  await expect(page.getByRole("button", { name: "Changed the page 2 changes" })).toBeVisible();
  await expect(tab(page, "Changes")).toHaveText(/Changes2new/);
  await expect(tab(page, "Changes")).toHaveAttribute("aria-selected", "false");
  await openChanges(page);
  await expect(tab(page, "Changes")).toHaveText("Changes2");
  await expect(records(page).getByText("“Half price”")).toBeVisible();
  await expect(records(page).getByText("It distracts.")).toBeVisible();
  await expect(records(page).getByText(/Revision 1.*by the agent.*Not checked/)).toBeVisible();
  await expectAtBox(page).toEqual(GREEN);

  const edit = page.getByRole("button", { name: "Edit: Text of #offer" });
  const field = page.getByRole("textbox", { name: "Text of #offer" });
  await edit.click();
  await expect(field).toBeFocused();
  await field.fill("Never saved");
  await field.press("Escape");
  await expect(field).toHaveCount(0);
  await expect(edit).toBeFocused();
  await edit.press("Enter");
  await field.fill("Half price today");
  await field.press("Enter");
  await expect(records(page).getByText("“Half price today”")).toBeVisible();
  await expect(records(page).getByText(/Revision 2.*by a person/)).toBeVisible();

  await applySwitch(page, "Removed #blink").click();
  await expect(records(page).getByText(/Revision 3/)).toBeVisible();
  await expect(records(page).getByText("Off", { exact: true })).toBeVisible();
  await expectAtBox(page).not.toEqual(GREEN);
  // Presses two switches in a row. The page sends the second edit after the service has stored the first.
  await applySwitch(page, "Removed #blink").press("Space");
  await applySwitch(page, "Text of #offer").press("Space");
  await expect(records(page).getByText(/Revision 5/)).toBeVisible();
  await expect(applySwitch(page, "Text of #offer")).not.toBeChecked();
  await expectAtBox(page).toEqual(GREEN);

  const shown = page.getByRole("switch", { name: "Show in the live browser" });
  await shown.click();
  await expect(shown).not.toBeChecked();
  await expectAtBox(page).not.toEqual(GREEN);
  await shown.click();
  await expectAtBox(page).toEqual(GREEN);

  await page.getByRole("button", { name: "Drop: Removed #blink" }).click();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Drop: Removed #blink" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: "Drop permanently: Removed #blink" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(records(page).getByText(/Revision 6/)).toBeVisible();
  await expect(records(page).getByText("Removed #blink")).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Drop: Text of #offer" })).toBeFocused();

  await page.reload();
  await expect(tab(page, "Result")).toHaveAttribute("aria-selected", "true");
  await page.getByRole("button", { name: /main.*revision 6, 1 change.*Not checked/ }).click();
  await expect(records(page).getByText("“Half price today”")).toBeVisible();
});

test("an edit of an outdated revision is refused with an explanation, and can be repeated", async ({
  page,
  cleanConsole,
  stage,
}) => {
  cleanConsole.allow(/status of 409/);
  await openEditedSession(page, stage, CHANGES);
  await openChanges(page);
  await page.route(
    "**/actions/variants/main/revisions",
    async (route) => {
      // Stores a newer revision just before the request arrives, as if a second page had saved an edit.
      const edits = [{ action: "setText", changeId: "c1", text: "Free today" }];
      await page.request.post(route.request().url(), {
        data: { baseRevision: 1, edits },
        headers: { origin: stage.service.baseUrl },
      });
      await route.continue();
    },
    { times: 1 },
  );
  const field = page.getByRole("textbox", { name: "Text of #offer" });
  await page.getByRole("button", { name: "Edit: Text of #offer" }).click();
  await field.fill("Half price today");
  await field.press("Enter");
  await expect(records(page).getByRole("alert")).toHaveText(/changed in the meantime, so this edit was not/);
  await expect(records(page).getByText(/Revision 2/)).toBeVisible();
  await field.press("Enter");
  await expect(records(page).getByText("“Half price today”")).toBeVisible();
  await expect(records(page).getByText(/Revision 3/)).toBeVisible();
  await expect(records(page).getByRole("alert")).toHaveCount(0);

  await expect(records(page).getByText("Not checked")).toBeVisible();
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await page.getByRole("button", { name: "Check now" }).click();
  await expect(page.getByRole("button", { name: "Checking, up to a minute" })).toBeDisabled();
  await expect(page.getByRole("button", { name: "Check again" })).toBeVisible({ timeout: 200_000 });
  await expect(records(page).getByText("Not checked")).toHaveCount(0);
});

test("a visitor who may only watch sees the changes but no controls", async ({
  page,
  browser,
  cleanConsole,
  stage,
}) => {
  cleanConsole.allow(/status of 403/);
  const { sessionId } = await openEditedSession(page, stage, CHANGES);
  const guest = await openAsViewer(browser, stage.service, sessionId);
  await openChanges(guest);
  await expect(records(guest).getByText("In the live browser")).toBeVisible();
  await expect(guest.getByRole("switch")).toHaveCount(0);
  await expect(records(guest).getByRole("button", { name: /^(Edit|Drop)/ })).toHaveCount(0);
  const refused = await guest.evaluate(async (path) => {
    const edits = [{ action: "drop", changeId: "c1" }];
    const body = JSON.stringify({ baseRevision: 1, edits });
    const headers = { "content-type": "application/json" };
    return (await fetch(path, { method: "POST", headers, body })).status;
  }, `/s/${sessionId}/actions/variants/main/revisions`);
  expect(refused).toBe(403);
  await guest.context().close();
});

/** Opens a session whose agent changed the page, checked the variant, and took two previews. The check fails. */
async function openCheckedSession(page: Page, { model, service, webPage }: Stage): Promise<void> {
  const add = [
    { op: "setText", selector: "#offer", text: "Half price" },
    { op: "insert", selector: "#offer", position: "after", html: "<p>Black text on green</p>" },
  ];
  const previews = [
    { title: "The page as it is", url: webPage.url, viewport: "desktop", variant: null },
    { title: "A page that is not there", url: "http://127.0.0.1:9/", viewport: "phone", variant: "main" },
  ];
  const calls = [
    { name: "apply_variant", arguments: { baseRevision: 0, add } },
    { name: "check_variant", arguments: {} },
    { name: "set_previews", arguments: { previews } },
  ];
  script(model, {
    "[check]": [
      goTo(webPage.url),
      ...calls.map((call) => ({ toolCalls: [call] })),
      { text: "It is checked." },
    ],
  });
  const session = await service.create("[check] Lower the price");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("It is checked.")).toBeVisible({ timeout: 180_000 });
}

const FINDING = /^Failed: color-contrast \(serious\): p breaks/;

test("the check of a variant is read, its pictures are compared by keyboard, and previews are opened", async ({
  page,
  stage,
}) => {
  /** Checks a state with axe at the width of a phone. */
  const expectAccessibleOnPhone = async (what: string) => {
    await page.setViewportSize({ width: 375, height: 740 });
    await page.getByRole("button", { name: "Result", exact: true }).click();
    await expectAccessible(page, what);
    await page.setViewportSize({ width: 1280, height: 800 });
  };
  await openCheckedSession(page, stage);
  await expect(page.getByRole("button", { name: "Took 2 previews" })).toBeVisible();
  await tab(page, "Result").click();
  await expect(records(page).getByText(FINDING)).toBeVisible();
  await page.getByRole("button", { name: /main.*revision 1, 2 changes.*Check not passed/ }).click();

  const inserted = records(page).getByRole("listitem").filter({ hasText: "Inserted after #offer" });
  await expect(inserted.getByText(FINDING)).toBeVisible();
  await expect(inserted.getByText("<p>Black text on green</p>")).toBeVisible();
  const mark = inserted.getByRole("button", { name: /^Check: Applied on a fresh load/ });
  await mark.focus();
  // A description is shown for a focus that the keyboard has moved.
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  await expect(mark).toBeFocused();
  await expect(page.getByRole("tooltip")).toContainText("Came back after its element was rendered again.");
  await tab(page, "Changes").focus();
  await expect(page.getByRole("tooltip")).toHaveCount(0);
  await expectAccessible(page, "the changes of a checked variant");
  await expectAccessibleOnPhone("the changes of a checked variant");

  await page.getByRole("button", { name: "Compare", exact: true }).click();
  const divider = page.getByRole("slider", { name: "Divider between before and after" });
  await divider.focus();
  await divider.press("ArrowRight");
  await expect(divider).toHaveAttribute("aria-valuetext", "51 % before, 49 % after");
  await divider.press("Home");
  await expect(divider).toHaveAttribute("aria-valuetext", "0 % before, 100 % after");
  for (const name of ["Before", "After"]) await expectLoaded(page, name);
  await expectAccessibleOnPhone("the comparison");
  await page.getByRole("button", { name: "Phone", exact: true }).press("Enter");
  await page.getByRole("button", { name: "Enlarge" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Before and after" });
  await expect(dialog.getByRole("button", { name: "Phone" })).toHaveAttribute("aria-pressed", "true");
  await dialog.getByRole("button", { name: "Difference" }).press("Enter");
  await expectLoaded(page, "Difference");
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "Check", exact: true }).click();
  await expect(records(page).getByText(/^2 of 2, .* the first paint$/)).toHaveCount(2);
  const outcomes = records(page).getByRole("region", { name: "Changes", exact: true });
  const outcomeOf = (name: string) => outcomes.getByRole("listitem").filter({ hasText: name }).first();
  await expect(outcomeOf("Text of #offer")).toHaveText(/Text of #offer\s*Proved/);
  await expect(outcomeOf("Inserted after #offer")).toHaveText(/Failed.*color-contrast/);
  await expectLoaded(page, "What visitors see");
  await expectAccessibleOnPhone("the report of the check");

  await tab(page, "Previews").click();
  await expect(records(page).getByText("127.0.0.1:9 could not be loaded")).toBeVisible();
  await expectAccessibleOnPhone("the previews");
  await page.getByRole("button", { name: "Open picture: The page as it is" }).click();
  await expect(page.getByRole("dialog", { name: "The page as it is" })).toBeVisible();
});

/** Waits until a picture is loaded. */
const expectLoaded = (page: Page, name: string) =>
  expect
    .poll(() =>
      page
        .getByRole("img", { name, exact: true })
        .last()
        .evaluate((image: HTMLImageElement) => image.naturalWidth),
    )
    .toBeGreaterThan(0);
