import { expect, type Locator, type Page } from "@playwright/test";
import type { Step } from "../fixtures/scripted-model/types.ts";
import { records } from "./edited-session.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { goTo, type Stage, test } from "./journey.ts";

test.use({ viewport: { width: 1280, height: 800 } });

const tool = (name: string, input: object): Step => ({ toolCalls: [{ name, arguments: input }] });
const TABS = [
  "Result",
  "Changes",
  "Previews",
  "Requirements",
  "Pages",
  "Annotations",
  "Evidence",
  "Files",
  "Agents",
  "Activity",
];

/**
 * Opens a session whose agent has only looked at a page. After the message "[all]", the agent creates content for the
 * tabs.
 */
async function openSession(page: Page, { model, service, webPage }: Stage) {
  const child = { name: "reader", objective: "[child] Read.", browser: "none" };
  const turns: Record<string, Step[]> = {
    "[look]": [goTo(webPage.url), { text: "I have looked." }],
    "[all]": [
      tool("apply_variant", {
        baseRevision: 0,
        add: [{ op: "setText", selector: "#offer", text: "Half price" }],
      }),
      tool("set_previews", {
        previews: [{ title: "The page", url: webPage.url, viewport: "desktop", variant: null }],
      }),
      tool("add_requirements", { requirements: [{ text: "The heading says half price" }] }),
      tool("write_file", {
        path: "site/index.html",
        content: "<!doctype html><html lang=en><title>Sale</title><h1>Sale</h1></html>",
      }),
      tool("deploy_landing_page", { folder: "site" }),
      tool("screenshot", {}),
      tool("spawn_agents", { agents: [child] }),
      tool("wait_for_agents", {}),
      { text: "All is made." },
    ],
    "[child]": [{ text: "Read." }],
  };
  model.respondWith(({ kind, userText, answersSoFar }) => {
    const steps = Object.entries(turns).find(([words]) => userText.includes(words))?.[1];
    return kind === "turn" ? steps?.[Math.min(answersSoFar, steps.length - 1)] : undefined;
  });
  const session = await service.create("[look] Look at the page", { subAgents: true });
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("I have looked.")).toBeVisible();
  return session;
}

/** Fills every tab of an open session, with the message "[all]" and with an annotation. */
async function fillTabs(page: Page, { service, webPage }: Stage, sessionId: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message to the agent" }).fill("[all] Make it");
  await page.keyboard.press("Enter");
  await expect(page.getByText("All is made.")).toBeVisible();
  await service.call("POST", `/api/sessions/${sessionId}/annotations/webhook`, {
    event: "submit",
    output: "Larger, please",
    annotations: [{ type: "click", selector: "#offer", comment: "Larger, please" }],
    url: webPage.url,
  });
  await expect(tabs(page)).toHaveText(TABS.map((name) => new RegExp(`^${name}`)));
}

const tabs = (page: Page) => records(page).getByRole("tab");
const tabOf = (page: Page, name: string) => records(page).getByRole("tab", { name: new RegExp(`^${name}`) });
const edges = (page: Page) => records(page).locator("[data-edge]");

/** Returns whether a tab is inside its row and no edge of the row covers the tab. */
async function isInSight(page: Page, tab: Locator): Promise<boolean> {
  const row = await page.getByRole("tablist").locator("..").boundingBox();
  const box = await tab.boundingBox();
  if (!row || !box) return false;
  if (box.x < row.x || box.x + box.width > row.x + row.width) return false;
  for (const edge of await edges(page).all()) {
    const cut = await edge.boundingBox();
    if (cut && box.x < cut.x + cut.width - 1 && cut.x < box.x + box.width - 1) return false;
  }
  return true;
}

/** Takes pictures of the page if `SCREENSHOTS` names a folder for the pictures. */
async function takePictures(page: Page, what: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined) return;
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `${folder}/${what}-${colorScheme}.png` });
  }
}

test("tabs appear with their content, and only outcomes are marked as news", async ({ page, stage }) => {
  const { sessionId } = await openSession(page, stage);
  await expect(tabs(page)).toHaveText(["Result", "Activity"]);
  await expect(edges(page)).toHaveCount(0);
  await fillTabs(page, stage, sessionId);
  for (const name of ["Changes", "Previews", "Requirements", "Pages", "Agents"])
    await expect(tabOf(page, name)).toContainText("new");
  for (const name of ["Annotations", "Evidence", "Files", "Activity"])
    await expect(tabOf(page, name)).not.toContainText("new");
  await expect(tabOf(page, "Evidence")).toHaveText(/^Evidence[1-9]\d*$/);
  await expectAccessible(page, "a drawer with every tab");
  await takePictures(page, "closed-1280");
  await tabOf(page, "Agents").click();
  await expect(tabOf(page, "Agents")).not.toContainText("new");
  await page.getByRole("button", { name: "Close the drawer" }).click();
  await page.reload();
  await expect(tabs(page)).toHaveCount(TABS.length);
  await expect(records(page).getByText("new", { exact: true })).toHaveCount(0);
});

for (const width of [1024, 375]) {
  test(`at ${width} px a row that does not fit marks its hidden tabs`, async ({ page, stage }) => {
    const { sessionId } = await openSession(page, stage);
    await fillTabs(page, stage, sessionId);
    await page.setViewportSize({ width, height: 740 });
    const parts = page.getByRole("navigation", { name: "Parts of the session" });
    if (width < 1024) await parts.getByRole("button", { name: "Result" }).click();
    const height = (await page.getByRole("tablist").boundingBox())?.height;
    await tabOf(page, "Result").click();
    await expect(edges(page)).toHaveCount(1);
    await expect(edges(page)).toHaveAttribute("data-edge", "news");
    await expectAccessible(page, `the cut row at ${width} px`);
    await takePictures(page, `start-${width}`);

    // The keyboard reaches every tab, and the tab that has the focus is visible.
    await page.keyboard.press("End");
    await expect(tabOf(page, "Activity")).toBeFocused();
    await expect.poll(() => isInSight(page, tabOf(page, "Activity"))).toBe(true);
    await expect(edges(page)).toHaveCount(1);
    await takePictures(page, `end-${width}`);
    for (const name of TABS.toReversed().slice(1)) {
      await page.keyboard.press("ArrowLeft");
      await expect(tabOf(page, name)).toBeFocused();
      await expect.poll(() => isInSight(page, tabOf(page, name))).toBe(true);
    }
    await page.keyboard.press("Home");
    await expect(tabOf(page, "Result")).toBeFocused();

    // A click on an edge scrolls the row.
    await expect(edges(page)).toHaveCount(1);
    await edges(page).click();
    await expect(records(page).getByTitle(/^More tabs/)).not.toHaveCount(0);
    await expect.poll(() => isInSight(page, tabOf(page, "Result"))).toBe(false);

    // A tab that is opened by a control outside of the row scrolls into view.
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await expect(tabOf(page, "Activity")).toHaveAttribute("aria-selected", "true");
    await page.getByRole("button", { name: /^Plan/ }).click();
    await page.getByRole("button", { name: "Add a requirement", exact: true }).first().click();
    await expect(tabOf(page, "Requirements")).toHaveAttribute("aria-selected", "true");
    await expect.poll(() => isInSight(page, tabOf(page, "Requirements"))).toBe(true);
    await expect(page.getByRole("textbox", { name: "Requirement" })).toBeFocused();
    await expectAccessible(page, `a tab opened from elsewhere at ${width} px`);
    await takePictures(page, `opened-${width}`);

    for (const name of TABS) await tabOf(page, name).click();
    await expect
      .poll(() => edges(page).evaluateAll((all) => all.map((each) => each.dataset.edge)))
      .toEqual(["more"]);
    expect((await page.getByRole("tablist").boundingBox())?.height).toBe(height);
  });
}
