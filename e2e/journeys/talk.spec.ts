import { expect, type Page } from "@playwright/test";
import { goTo, script, test } from "./journey.ts";
import { recordNotifications } from "./record-notifications.ts";

test.use({ viewport: { width: 1280, height: 800 } });

const message = (page: Page) => page.getByLabel("Message to the agent");
const conversation = (page: Page) => page.getByRole("region", { name: "Conversation" });
const elicit = (input: object) => ({ toolCalls: [{ name: "elicit_user_input", arguments: input }] });

test("an unsent message and the values of a form survive a reload, and are gone when they are sent", async ({
  page,
  stage: { model, service },
}) => {
  const form = {
    properties: { city: { type: "string", title: "City" }, gift: { type: "boolean", title: "Gift" } },
    required: ["city"],
  };
  script(model, {
    "[hello]": [{ text: "Hello." }],
    "[draft]": [elicit({ question: "Where to?", form }), { text: "On its way." }],
  });
  const session = await service.create("[hello]");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("Hello.")).toBeVisible();
  await message(page).fill("[draft] send it");
  await page.reload();
  await expect(message(page)).toHaveValue("[draft] send it");
  await message(page).press("Enter");
  await expect(message(page)).toHaveValue("");
  const question = page.getByRole("region", { name: "Where to?" });
  await question.getByLabel("City").fill("Kiel");
  await question.getByLabel("Gift").check();
  await page.reload();
  await expect(question.getByLabel("City")).toHaveValue("Kiel");
  await expect(question.getByLabel("Gift")).toBeChecked();
  await expect(message(page)).toHaveValue("");
  await question.getByRole("button", { name: "Answer" }).click();
  await expect(page.getByText("On its way.")).toBeVisible();

  // The question stays in the conversation with its answer.
  for (const isReloaded of [false, true]) {
    if (isReloaded) await page.reload();
    const answered = conversation(page).getByRole("article", { name: "Question" });
    await expect(answered).toContainText("Where to?");
    await expect(answered.getByRole("definition")).toHaveText(["Kiel", "Yes"]);
  }
  const kept = await page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes("draft")));
  expect(kept).toEqual([]);
});

test("a failed turn is tried again with one click", async ({ page, stage: { model, service } }) => {
  let calls = 0;
  model.respondWith(({ userText }) => {
    if (!userText.includes("[flaky]")) return undefined;
    calls += 1;
    return calls === 1 ? { status: 400, message: "The model is not there." } : { text: "Now it works." };
  });
  const session = await service.create("[flaky] do it");
  await page.goto(service.baseUrl + session.shareUrl);
  await conversation(page).getByRole("button", { name: "Try again" }).click();
  await expect(page.getByText("Now it works.")).toBeVisible();
  await expect(conversation(page).getByRole("article", { name: "Request" })).toHaveCount(2);
  await expect(conversation(page).getByRole("button", { name: "Try again" })).toHaveCount(0);
});

test("the own stop is shown calmly, also after a reload, and one click continues", async ({
  page,
  browser,
  stage: { model, service, webPage },
}) => {
  const never = {
    name: "browser_execute",
    arguments: { script: "await new Promise(() => {});", timeoutMs: 120_000 },
  };
  script(model, {
    "[long]": [goTo(webPage.url), { text: "Now I wait.", toolCalls: [never] }],
    "Continue.": [{ text: "Going on." }],
  });
  const session = await service.create("[long] work");
  await page.goto(service.baseUrl + session.shareUrl);
  const running = conversation(page).getByText("Running a script in the page");
  await expect(conversation(page).getByText("Opened /page")).toBeVisible();
  await expect(running).toBeVisible();
  await page.getByRole("button", { name: "Stop" }).click();
  for (const isReloaded of [false, true]) {
    if (isReloaded) await page.reload();
    await expect(conversation(page).getByText("You stopped the turn")).toBeVisible();
    await expect(conversation(page).getByText("stopped", { exact: true })).toBeVisible();
    await expect(conversation(page).getByText(/failed/i)).toHaveCount(0);
  }
  const other = await browser.newPage();
  await other.goto(service.baseUrl + session.shareUrl);
  await expect(conversation(other).getByText("Stopped by a person")).toBeVisible();
  await other.close();
  await conversation(page).getByRole("button", { name: "Continue" }).click();
  await expect(page.getByText("Going on.")).toBeVisible();
});

test("a line of a script says what it did, and its details have no marks for the model", async ({
  page,
  stage: { model, service, webPage },
}) => {
  const fill = {
    name: "browser_execute",
    arguments: { script: "await page.getByLabel('Name').fill('secret-value'); return 1;" },
  };
  script(model, {
    "[lines]": [goTo(webPage.url, "First"), { text: "Then", toolCalls: [fill] }, { text: "All done." }],
  });
  const session = await service.create("[lines] fill it in");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("All done.")).toBeVisible();
  await expect(conversation(page).getByRole("button", { name: /^Opened \/page/ })).toBeVisible();
  const line = conversation(page).getByRole("button", { name: /^Filled Name/ });
  await line.click();
  await expect(conversation(page).getByRole("heading", { name: "Result" })).toBeVisible();
  await expect(conversation(page).getByText("What has happened:", { exact: false })).toBeVisible();
  await expect(conversation(page).getByText(/data-[0-9a-f]{12}|two marks/)).toHaveCount(0);
  const events = await service.call("GET", session.streamUrl);
  const actions = [...(await events.text()).matchAll(/"actions":(\[.*?\])/g)].map(([, text = ""]) => text);
  expect(actions.map((each) => JSON.parse(each))).toEqual([
    [{ did: "opened", what: webPage.url }],
    [{ did: "filled", what: "Name" }],
  ]);
});

for (const viewport of [
  { width: 1280, height: 800 },
  { width: 375, height: 667 },
])
  test(`a question of seven fields keeps its Answer button in view at ${viewport.width} × ${viewport.height}`, async ({
    page,
    stage: { model, service },
  }) => {
    await page.setViewportSize(viewport);
    const fields = Array.from({ length: 7 }, (_, index) => [
      `field${index}`,
      { type: "string", title: `Field ${index}`, description: "A hint that says what to write here." },
    ]);
    const form = { properties: Object.fromEntries(fields), required: ["field6"] };
    script(model, {
      "[hello]": [{ text: "Hello." }],
      "[seven]": [elicit({ question: "What are the seven values?", form }), { text: "Thanks." }],
    });
    const session = await service.create("[hello]");
    await page.goto(service.baseUrl + session.shareUrl);
    await message(page).fill("[seven]");
    await message(page).press("Enter");
    const question = page.getByRole("region", { name: "What are the seven values?" });
    const answer = question.getByRole("button", { name: "Answer" });
    await expect(answer).toBeInViewport({ ratio: 1 });
    await expect(message(page)).toBeInViewport({ ratio: 1 });
    await question.getByLabel("Field 6").fill("seven");
    await expect(question.getByLabel("Field 6")).toBeInViewport({ ratio: 1 });
    await expect(answer).toBeInViewport({ ratio: 1 });
    await answer.click();
    await expect(page.getByText("Thanks.")).toBeVisible();
  });

test("the result opens by itself, unless the person has closed it", async ({
  page,
  stage: { model, service },
}) => {
  const release = Promise.withResolvers<void>();
  model.respondWith(({ kind, text }) => {
    if (!text.includes("[opens]")) return undefined;
    if (kind === "turn") return { text: "I have looked." };
    return kind === "structured" ? { json: { shop: "Harbour Paper" }, hold: release.promise } : undefined;
  });
  const outputSchema = { type: "object", properties: { shop: { type: "string" } }, required: ["shop"] };
  const session = await service.create("[opens] Which shop?", { outputSchema });
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("I have looked.")).toBeVisible();
  const records = page.getByRole("region", { name: "Result and records" });
  await expect(records.getByRole("tabpanel")).toBeHidden();
  release.resolve();
  await expect(records.getByText("Harbour Paper")).toBeVisible();
  await records.getByRole("button", { name: "Close the drawer" }).click();
  await message(page).fill("[opens] And again?");
  await message(page).press("Enter");
  await expect(conversation(page).getByRole("button", { name: /Structured result/ })).toHaveCount(2);
  await expect(page.getByRole("banner").getByText("Done")).toBeVisible();
  await expect(records.getByRole("tabpanel")).toBeHidden();
});

test("only after a click, a person is notified when the turn ends while the tab is hidden", async ({
  page,
  stage: { model, service },
}) => {
  const { hide, shown, asked } = await recordNotifications(page, service.baseUrl);
  const release = Promise.withResolvers<void>();
  script(model, {
    "[first]": [{ text: "One." }],
    "[second]": [{ text: "Two.", hold: release.promise }],
  });
  const session = await service.create("[first] turn");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(conversation(page).getByText("One.")).toBeVisible();
  expect(await asked()).toBe(0);
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Notify me in the background" }).click();
  await expect.poll(asked).toBe(1);
  await message(page).fill("[second] turn");
  await message(page).press("Enter");
  await expect(conversation(page).getByText("Two.")).toBeVisible();
  await expect(page).toHaveTitle(/^Working · /);
  await expect(page.locator('link[rel="icon"]').first()).toHaveAttribute("href", /^data:image/);
  await hide(true);
  release.resolve();
  await expect.poll(shown).toEqual(["Done: [first] turn"]);
  await expect(page).toHaveTitle(/^Done · /);
  await hide(false);
  await expect(page).toHaveTitle(/^\[first\] turn/);
  await expect(page.locator('link[rel="icon"]').first()).not.toHaveAttribute("href", /^data:image/);
});

test("only messages after the last one that was read are new", async ({
  page,
  stage: { model, service },
}) => {
  const release = Promise.withResolvers<void>();
  const long = Array.from({ length: 60 }, (_, index) => `Line ${index}.`).join("\n\n");
  script(model, {
    "[read]": [{ text: long }],
    "[more]": [{ text: "Held back.", hold: release.promise }, { text: "unused" }],
  });
  const session = await service.create("[read] first");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("Line 59.")).toBeVisible();
  await message(page).fill("[more] second");
  await message(page).press("Enter");
  await expect(page.getByText("Held back.")).toBeVisible();
  await conversation(page).hover();
  await page.mouse.wheel(0, -5_000);
  const toEnd = page.getByRole("button", { name: "To the end" });
  await expect(toEnd).toBeVisible();
  await service.call("POST", `/api/sessions/${session.sessionId}/agent/messages`, { text: "[read] third" });
  release.resolve();
  await expect(page.getByRole("button", { name: "2 new" })).toBeVisible();
});

test("Markdown of the model is rendered, and nothing in it can act on the page", async ({
  page,
  stage: { model, service },
}) => {
  const text = [
    "<b>raw</b> &amp; [bad](javascript:window.owned=1) [good](https://shop.example/?a=1&amp;b=2) ![plan](https://evil.example/p.png)",
    "1. one\n   - nested **bold**\n2. two",
    "- [x] checked",
    "| a | b |\n|---|---|\n| 1 | `2` |",
    '```json\n{ "a": "text" }\n```',
    '<script>window.owned = 1</script><img src=x onerror="window.owned = 1">',
    "The end.",
  ].join("\n\n");
  script(model, { "[markdown]": [{ text }] });
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  const session = await service.create("[markdown]");
  await page.goto(service.baseUrl + session.shareUrl);
  const agent = conversation(page).getByRole("article", { name: "Agent" });
  await expect(agent.getByText("The end.")).toBeVisible();
  await expect(agent.getByRole("paragraph").first()).toHaveText("raw & bad good [picture: plan]");
  await expect(agent.getByRole("link")).toHaveText(["good"]);
  await expect(agent.getByRole("link")).toHaveAttribute("href", "https://shop.example/?a=1&b=2");
  await expect(agent.getByRole("list").first().getByRole("list").getByText("bold")).toBeVisible();
  await expect(agent.getByText("☑ checked")).toBeVisible();
  await expect(agent.getByRole("cell")).toHaveText(["1", "2"]);
  await expect(agent.locator("pre .text-good")).toHaveText('"text"');
  await expect(agent.getByRole("img")).toHaveCount(0);
  await agent.hover();
  await expect(agent.getByRole("button", { name: "Copy message" })).toBeVisible();
  expect(await page.evaluate(() => "owned" in window)).toBe(false);
  expect(requests.filter((url) => url.includes("evil.example"))).toEqual([]);
});
