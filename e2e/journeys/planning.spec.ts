import { expect, type Page } from "@playwright/test";
import { openAsViewer, records } from "./edited-session.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { goTo, type Stage, script, test, toolsOf } from "./journey.ts";

test.use({ viewport: { width: 1280, height: 800 } });

const planOf = (page: Page) => page.getByRole("region", { name: "Plan", exact: true });
const item = (page: Page, text: string) => planOf(page).getByRole("listitem").filter({ hasText: text });
const box = (page: Page, name: string | RegExp) => planOf(page).getByRole("checkbox", { name });

const update = (...items: [string, string][]) => ({
  toolCalls: [
    { name: "update_plan", arguments: { items: items.map(([text, status]) => ({ text, status })) } },
  ],
});
const change = (text: string, baseRevision = 0) => ({
  toolCalls: [
    {
      name: "apply_variant",
      arguments: {
        baseRevision,
        ...(baseRevision > 0 && { drop: [`c${baseRevision}`] }),
        add: [{ op: "setText", selector: "#offer", text }],
      },
    },
  ],
});

/** Checks a state with axe at the widths of a desktop and of a phone, and takes screenshots. */
async function expectAccessibleEverywhere(page: Page, what: string): Promise<void> {
  await expectAccessible(page, what);
  await page.screenshot({ path: test.info().outputPath(`${what}-dark-1280.png`) });
  await page.setViewportSize({ width: 375, height: 740 });
  await expectAccessible(page, what);
  await page.screenshot({ path: test.info().outputPath(`${what}-dark-375.png`) });
  await page.emulateMedia({ colorScheme: "light" });
  await page.screenshot({ path: test.info().outputPath(`${what}-light-375.png`) });
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.screenshot({ path: test.info().outputPath(`${what}-light-1280.png`) });
}

async function openSession(page: Page, { service }: Stage, text: string) {
  const session = await service.create(text);
  await page.goto(service.baseUrl + session.shareUrl);
  return session;
}

async function send(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message to the agent" }).fill(text);
  await page.keyboard.press("Enter");
}

test("nothing changes before a person agrees to the plan", async ({ page, stage, browser }) => {
  const { model, service, webPage } = stage;
  script(model, {
    "[look]": [goTo(webPage.url), { text: "I have looked." }],
    "[plan]": [
      change("Half price"),
      update(["Read the page", "done"], ["Change the heading", "in_progress"], ["Check it", "todo"]),
      { text: "Here is the plan." },
    ],
    "The plan is agreed": [change("Half price"), { text: "The heading is changed." }],
  });
  const session = await openSession(page, stage, "[look] Look at the page");
  await expect(page.getByText("I have looked.")).toBeVisible();
  const offered = () => JSON.stringify(toolsOf(model.requests.findLast(({ kind }) => kind === "turn")));
  const before = offered();

  const first = page.getByRole("switch", { name: "Plan first" });
  await first.focus();
  await page.keyboard.press("Space");
  await expect(first).toBeChecked();
  await expect(planOf(page)).toContainText("There is no plan yet. Ask the agent for one");
  await expect(planOf(page)).toContainText("cannot change pages, files or publications until you agree");
  await expect(page.getByRole("button", { name: "Go ahead" })).toHaveCount(0);

  await send(page, "[plan] Make the offer clearer");
  await expect(page.getByText("Here is the plan.")).toBeVisible();
  expect(offered()).toBe(before);
  const refusal = model.requests.findLast(({ userText }) => userText.includes("[plan]"))?.toolResults[0];
  expect(refusal).toContain("apply_variant was not run");
  const refused = page.getByRole("main").getByRole("button", { name: /Changing the page/ });
  await expect(refused).toContainText("not run, plan first");
  await expect(refused).not.toContainText("failed");
  await expect(page.getByRole("button", { name: "Plan · 1 of 3" })).toHaveAttribute("aria-expanded", "true");
  await expect(box(page, "Read the page (done)")).toBeChecked();
  await expect(page.getByRole("banner").getByText("Waiting for your go-ahead")).toBeAttached();

  // The person drops one item, edits a second one, and adds a third.
  await planOf(page).getByRole("button", { name: "Drop “Check it”" }).click();
  await expect(item(page, "Check it").getByRole("button", { name: "Restore “Check it”" })).toBeVisible();
  await planOf(page).getByRole("button", { name: "Edit “Change the heading”" }).click();
  await expect(page.getByRole("textbox", { name: "Text of “Change the heading”" })).toBeFocused();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("Change the heading only");
  await page.keyboard.press("Enter");
  await expect(item(page, "Change the heading only")).toBeVisible();
  await planOf(page).getByRole("button", { name: "Add an item" }).click();
  await page.keyboard.type("Tell Ann");
  await page.keyboard.press("Enter");
  await expect(item(page, "Tell Ann")).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Text of the new item" })).toHaveValue("");
  await page.keyboard.press("Escape");
  await refused.click();
  await expect(page.getByRole("heading", { name: "Why it was not run" })).toBeVisible();
  await expectAccessibleEverywhere(page, "plan first");
  await refused.click();

  const guest = await openAsViewer(browser, service, session.sessionId);
  await expect(planOf(guest)).toContainText("until a person agrees to the plan");
  await expect(planOf(guest).getByRole("checkbox")).toHaveCount(0);
  await expect(guest.getByRole("button", { name: "Go ahead" })).toHaveCount(0);
  await expect(guest.getByRole("banner").getByText("Waiting for a go-ahead")).toBeAttached();
  await expect(guest.getByRole("switch", { name: "Plan first" })).toHaveCount(0);
  await expectAccessible(guest, "the plan of a viewer");

  await page.getByRole("textbox", { name: "Note for the agent, optional" }).fill("Keep it short.");
  await page.keyboard.press("Enter");
  await expect(page.getByText("The heading is changed.")).toBeVisible();
  await expect(page.getByText("Keep it short.")).toBeVisible();
  await expect(planOf(page).getByText("Agreed")).toBeVisible();
  await expect(page.getByRole("banner").getByText("Done", { exact: true })).toBeAttached();
  await expect(first).not.toBeChecked();
  await expect(page.getByRole("button", { name: /^Plan · 1 of 3/ })).toContainText("Change the heading only");
  await expect(planOf(guest).getByText("Agreed")).toBeVisible();
  await page.getByRole("button", { name: /^Plan · 1 of 3/ }).click();
  await box(page, "Tell Ann (to do)").click();
  await expect(page.getByRole("button", { name: /^Plan · 2 of 3/ })).toBeVisible();
  await expect(item(guest, "Tell Ann")).toHaveCount(0);
  await expect(guest.getByRole("button", { name: /^Plan · 2 of 3/ })).toBeVisible();
  await guest.context().close();
});

test("two people edit one text: the second sees the current text", async ({ page, stage, browser }) => {
  script(stage.model, { "[two]": [update(["Look", "todo"]), { text: "Planned." }] });
  const session = await openSession(page, stage, "[two] Plan it");
  await page.getByRole("button", { name: /^Plan · 0 of 1/ }).click();
  const other = await (await browser.newContext()).newPage();
  await other.goto(stage.service.baseUrl + session.shareUrl);
  await other.getByRole("button", { name: /^Plan · 0 of 1/ }).click();
  await planOf(page).getByRole("button", { name: "Edit “Look”" }).click();
  await planOf(other).getByRole("button", { name: "Edit “Look”" }).click();
  await page.keyboard.type(" twice");
  await page.keyboard.press("Enter");
  await expect(item(page, "Look twice")).toBeVisible();
  await other.keyboard.type(" once");
  await other.keyboard.press("Enter");
  await expect(planOf(other).getByRole("alert")).toContainText("p1 reads");
  await expect(other.getByRole("textbox", { name: /Text of/ })).toHaveValue("Look once");
  await other.keyboard.press("Escape");
  await expect(item(other, "Look twice")).toBeVisible();
  await other.context().close();
});

test("a requirement is added, tested by a check, proved with evidence, and waived", async ({
  page,
  stage,
  browser,
}) => {
  const { model, service, webPage } = stage;
  const evidenceOf = (text: string | undefined) => /evi_[a-z0-9]+/.exec(text ?? "")?.[0] ?? "";
  model.respondWith(({ userText, answersSoFar, toolResults }) => {
    const steps: Record<string, ReturnType<typeof change>[]> = {
      "[edit]": [goTo(webPage.url), change("Half price")] as never,
    };
    if (userText.includes("[edit]")) return steps["[edit]"]?.[answersSoFar] ?? { text: "Changed." };
    if (!userText.includes("[repair]")) return { text: "Done." };
    const evidenceIds = [evidenceOf(toolResults[2])];
    return (
      [
        change("Half the price", 1),
        { toolCalls: [{ name: "check_variant", arguments: { viewports: ["desktop"] } }] },
        { toolCalls: [{ name: "screenshot", arguments: {} }] },
        { toolCalls: [{ name: "update_requirement", arguments: { id: "r1", status: "met", evidenceIds } }] },
      ][answersSoFar] ?? { text: "Repaired." }
    );
  });
  const session = await openSession(page, stage, "[edit] Change it");
  await expect(page.getByText("Changed.", { exact: true })).toBeVisible();
  const tab = page.getByRole("tab", { name: /^Requirements/ });
  await expect(tab).toHaveCount(0);
  await planOf(page).getByRole("button", { name: /^Plan/ }).click();
  await planOf(page).getByRole("button", { name: "Add a requirement" }).click();
  await expect(tab).toHaveAttribute("aria-selected", "true");
  await expect(records(page)).toContainText("No requirements yet");
  await expect(page.getByRole("textbox", { name: "Requirement" })).toBeFocused();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("tab", { name: "Activity" }).click();
  await tab.click();
  await records(page).getByRole("button", { name: "Add a requirement" }).click();
  await page.getByRole("textbox", { name: "Requirement" }).fill("The heading says half the price");
  await page.getByRole("checkbox", { name: "Test it in each check of a variant" }).check();
  await page.getByRole("textbox", { name: "Page", exact: true }).fill("not a page");
  await page.getByRole("textbox", { name: "CSS selector" }).fill("#offer");
  await page.getByRole("combobox", { name: "What must hold" }).selectOption("text");
  await page.getByRole("textbox", { name: "Text", exact: true }).fill("Half the price");
  await expectAccessibleEverywhere(page, "requirement form");
  await page.getByRole("textbox", { name: "Page", exact: true }).fill(webPage.url);
  await records(page).getByRole("button", { name: "Add", exact: true }).click();
  const first = page.getByRole("article", { name: "Requirement r1" });
  await expect(first).toContainText(/Open.*The heading says half the price.*by a person/);
  await expect(first).toContainText("#offer reads “Half the price”");
  await expect(first).toContainText("Not checked yet");

  await page.getByRole("tab", { name: "Changes" }).click();
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await page.getByRole("button", { name: "Check now" }).click();
  await expect(page.getByRole("button", { name: "Check again" })).toBeVisible({ timeout: 200_000 });
  await page.getByRole("tab", { name: /^Requirements/ }).click();
  await expect(first).toContainText("Failed in revision 1 of main");
  await expect(first).toContainText('is "Half price" instead of "Half the price"');

  await send(page, "[repair] Make it so");
  await expect(page.getByText("Repaired.")).toBeVisible();
  await expect(first).toContainText("Passed in revision 2 of main");
  await expect(first.getByText("Met", { exact: true })).toBeVisible();
  await expect(page.getByText("Updated a requirement")).toBeVisible();
  await expectAccessibleEverywhere(page, "requirement met");
  await first.getByRole("button", { name: /^Open picture/ }).click();
  await expect(page.getByRole("dialog").getByRole("img")).toBeVisible();
  await page.keyboard.press("Escape");

  // An edit that changes nothing does not reopen the requirement.
  await first.getByRole("button", { name: "Edit r1" }).click();
  await records(page).getByRole("button", { name: "Save" }).click();
  await expect(first.getByText("Met", { exact: true })).toBeVisible();
  await first.getByRole("button", { name: "Waive" }).click();
  await expect(first.getByText("Waived", { exact: true })).toBeVisible();
  await expect(first).toContainText("Checks skip it while it is waived.");
  const guest = await openAsViewer(browser, service, session.sessionId);
  await guest.getByRole("tab", { name: /^Requirements/ }).click();
  await expect(guest.getByRole("article", { name: "Requirement r1" })).toContainText("Waived");
  await expect(guest.getByRole("article").getByRole("button", { name: /Waive|Reopen|Edit/ })).toHaveCount(0);
  await expect(guest.getByRole("button", { name: "Add a requirement" })).toHaveCount(0);
  await guest.context().close();
  await first.getByRole("button", { name: "Reopen" }).click();
  await expect(first.getByText("Open", { exact: true })).toBeVisible();
});
