import { type Browser, expect, type Locator, type Page } from "@playwright/test";
import type { Step } from "../fixtures/scripted-model/types.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { type Stage, script, test } from "./journey.ts";

const tool = (name: string, input: object): Step => ({ toolCalls: [{ name, arguments: input }] });
const write = (path: string, content = "Hello\nthere"): Step => tool("write_file", { path, content });

const message = (page: Page) => page.getByLabel("Message to the agent");
const cardOf = (page: Page, title = "Approve write_file"): Locator =>
  page.getByRole("region", { name: title });
const buttonOf = (page: Page, name: string) => cardOf(page).getByRole("button", { name, exact: true });
const waits = (page: Page) => page.getByRole("banner").getByText("Waiting for your approval");

/** Opens a session whose calls of `write_file` and `run_shell` wait for approval, and sends a message on its page. */
async function open(page: Page, { model, service }: Stage, text: string, turns: Record<string, Step[]>) {
  script(model, { "[hello]": [{ text: "Hello." }], ...turns });
  const session = await service.create("[hello]", {
    capabilities: { browser: false },
    tools: { approve: ["write_file", "run_shell"] },
  });
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("Hello.")).toBeVisible();
  const title = await page.title();
  await message(page).fill(text);
  await page.keyboard.press("Enter");
  return { session, title };
}

/** Opens the session in another browser, with a new link of this role. */
async function watch(browser: Browser, { service }: Stage, sessionId: string, role: "view" | "drive") {
  const created = await service.call("POST", `/api/sessions/${sessionId}/share-links`, { role });
  const { shareUrl } = (await created.json()) as { shareUrl: string };
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(service.baseUrl + shareUrl);
  return { page, leave: () => context.close() };
}

const resultsOf = ({ model }: Stage, words: string) =>
  model.requests.findLast(({ userText }) => userText.includes(words))?.toolResults;

test("a person sees the exact call, also after a reload, and approves it; the tab and the state say that it waits", async ({
  page,
  stage,
}) => {
  const { title } = await open(page, stage, "[one] go", {
    "[one]": [write("notes/a.txt"), { text: "Written." }],
  });
  const card = cardOf(page);
  await expect(card).toBeVisible();
  await expect(card).toContainText("The agent wants to call write_file");
  await expect(card).toContainText("notes/a.txt");
  await expect(card.getByText("Hello\nthere")).toBeVisible();
  await expect(card).toContainText("Open for 24 h");
  await expect(page).toHaveTitle(`Approval · ${title}`);
  await expect(waits(page)).toBeVisible();

  await page.reload();
  await expect(card).toContainText("notes/a.txt");
  await expect(waits(page)).toBeVisible();
  await buttonOf(page, "Approve").click();
  await expect(page.getByText("Written.")).toBeVisible();
  await expect(card).toHaveCount(0);
  await expect(page).toHaveTitle(title);
  await expect(message(page)).toBeFocused();
});

test("all levels of the arguments are open, and a text cannot look like another field", async ({
  page,
  stage: { model, service },
}) => {
  const label = 'Size\namount: "1"';
  const form = { properties: { size: { type: "string", title: label, enum: ["S", "XXL"] } } };
  script(model, {
    "[deep]": [tool("elicit_user_input", { question: "Which size?", form }), { text: "Asked." }],
  });
  const session = await service.create("[deep] go", {
    capabilities: { browser: false },
    interaction: { mode: "ask" },
    tools: { approve: ["elicit_user_input"] },
  });
  await page.goto(service.baseUrl + session.shareUrl);
  const card = cardOf(page, "Approve elicit_user_input");
  await expect(card.getByText('"XXL"')).toBeVisible();
  await expect(card).toContainText(JSON.stringify(label));
  await card.getByRole("button", { name: "Deny", exact: true }).click();
  await expect(page.getByText("Asked.")).toBeVisible();
});

test("a message that is typed while a call waits reaches the agent instead of an approval", async ({
  page,
  stage,
}) => {
  await open(page, stage, "[other] go", {
    "[other]": [write("notes/a.txt"), { text: "Not reached." }],
    "Leave the notes": [{ text: "Then I do." }],
  });
  await expect(cardOf(page)).toBeVisible();
  await expect(message(page)).toHaveAttribute("placeholder", "Or tell the agent something else");
  await message(page).fill("Leave the notes alone");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Then I do.")).toBeVisible();
  await expect(cardOf(page)).toHaveCount(0);
  const read = stage.model.requests.findLast(({ userText }) => userText.includes("Leave the notes"));
  expect(JSON.stringify(read?.body)).toContain("write_file was not run");
});

test("a person denies a call with a reason, which the agent reads; a watcher sees that it waits, without buttons", async ({
  page,
  browser,
  stage,
}) => {
  const { session } = await open(page, stage, "[deny] go", {
    "[deny]": [tool("run_shell", { command: "rm -rf notes" }), { text: "Then not." }],
  });
  const card = cardOf(page, "Approve run_shell");
  await expect(card).toContainText("rm -rf notes");
  const watcher = await watch(browser, stage, session.sessionId, "view");
  const seen = cardOf(watcher.page, "Approve run_shell");
  await expect(seen).toContainText("rm -rf notes");
  await expect(seen).toContainText("Waits for a person who may approve it");
  await expect(watcher.page.getByRole("banner").getByText("Waiting for approval")).toBeVisible();
  for (const name of ["Approve", "Approve for this session", "Deny"])
    await expect(seen.getByRole("button", { name, exact: true })).toHaveCount(0);

  await card.getByLabel("Reason for denying").fill("The notes stay");
  await card.getByRole("button", { name: "Deny", exact: true }).click();
  for (const each of [page, watcher.page]) {
    await expect(each.getByText("Then not.")).toBeVisible();
    await expect(cardOf(each, "Approve run_shell")).toHaveCount(0);
    await expect(each.getByText("not run, not approved")).toBeVisible();
  }
  expect(resultsOf(stage, "[deny]")?.[0]).toContain("with the reason: The notes stay");
  await watcher.leave();
});

test("an approval for the session is asked once", async ({ page, stage }) => {
  await open(page, stage, "[twice] go", {
    "[twice]": [write("1.txt"), write("2.txt"), { text: "Both are written." }],
  });
  await buttonOf(page, "Approve for this session").click();
  await expect(page.getByText("Both are written.")).toBeVisible();
  await expect(cardOf(page)).toHaveCount(0);
  expect(resultsOf(stage, "[twice]")).toHaveLength(2);
});

test("a decision that is too late shows how another person decided", async ({
  page,
  browser,
  stage,
  cleanConsole,
}) => {
  cleanConsole.allow(/409/);
  const { session } = await open(page, stage, "[race] go", {
    "[race]": [write("a.txt"), { text: "Over." }],
  });
  await expect(cardOf(page)).toBeVisible();
  const other = await watch(browser, stage, session.sessionId, "drive");
  await expect(cardOf(other.page)).toBeVisible();
  await page.route("**/actions/inbox/*", async (route) => {
    await buttonOf(other.page, "Deny").click();
    await expect(cardOf(other.page)).toHaveCount(0);
    await route.continue();
  });
  await buttonOf(page, "Approve").click();
  await expect(cardOf(page).getByRole("status")).toHaveText("Already denied by a person.");
  await expect(buttonOf(page, "Approve")).toHaveCount(0);
  await buttonOf(page, "Close").click();
  await expect(cardOf(page)).toHaveCount(0);
  await expect(page.getByText("Over.")).toBeVisible();
  await other.leave();
});

test("a call of a sub-agent is approved on the page of the session, which names the sub-agent", async ({
  page,
  stage: { model, service },
}) => {
  script(model, {
    "[lead]": [
      tool("spawn_agents", {
        agents: [{ name: "writer", objective: "[child] Write the file.", browser: "none" }],
      }),
      tool("wait_for_agents", {}),
      { text: "All is done." },
    ],
    "[child]": [write("child.txt"), tool("submit_result", { result: "written" })],
  });
  const session = await service.create("[lead] go", {
    capabilities: { browser: false },
    subAgents: true,
    interaction: { mode: "ask" },
    tools: { approve: ["write_file"] },
  });
  await page.goto(service.baseUrl + session.shareUrl);
  const card = cardOf(page, "writer: Approve write_file");
  await expect(card).toContainText("The sub-agent writer wants to call write_file");
  await expect(page).toHaveTitle(/^Approval · /);
  await card.getByRole("button", { name: "Approve", exact: true }).click();
  await expect(page.getByText("All is done.")).toBeVisible();
  await expect(card).toHaveCount(0);
});

test("a stop withdraws the call, and its card disappears", async ({ page, stage }) => {
  await open(page, stage, "[stop] go", { "[stop]": [write("a.txt"), { text: "Never." }] });
  await expect(cardOf(page)).toBeVisible();
  await page.getByRole("button", { name: /^Stop/ }).first().click();
  await expect(cardOf(page)).toHaveCount(0);
  await expect(page.getByRole("button", { name: /Continue/ })).toBeVisible();
});

for (const width of [375, 1280])
  test(`an approval is accessible at ${width} px`, async ({ page, stage }) => {
    await page.setViewportSize({ width, height: 800 });
    await open(page, stage, "[look] go", {
      "[look]": [write("a.txt", "const answer = 42;\n".repeat(8)), { text: "Seen." }],
    });
    await expect(cardOf(page)).toBeVisible();
    await expectAccessible(page, "an approval");
    // The primary button is reachable without scrolling the page.
    await expect(buttonOf(page, "Approve")).toBeInViewport();
    await buttonOf(page, "Approve").focus();
    await page.keyboard.press("Enter");
    await expect(page.getByText("Seen.")).toBeVisible();
  });
