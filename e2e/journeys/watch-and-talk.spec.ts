import { expect } from "@playwright/test";
import { logInOn } from "../fixtures/log-in.ts";
import { startReceiver } from "../fixtures/receiver.ts";
import type { Step } from "../fixtures/scripted-model/types.ts";
import { waitUntil } from "../fixtures/service.ts";
import { GREEN, goTo, liveView, PLACES, script, test, toolsOf } from "./journey.ts";

test.use({ viewport: { width: 1400, height: 900 } });

test("a person starts a session on the landing page, and watches the agent in the live browser", async ({
  page,
  stage: { model, service, webPage },
}) => {
  script(model, {
    "[watch]": [
      goTo(webPage.url, "I open the page."),
      { toolCalls: [{ name: "screenshot", arguments: {} }] },
      { text: "It makes **an offer**." },
    ],
  });
  await logInOn(page, service.loginUrl);
  await page.getByLabel("Task", { exact: true }).fill("[watch] What does this page offer?");
  await page.getByLabel("Page", { exact: true }).fill("");
  await page.getByRole("button", { name: "Start" }).click();
  await expect(page).toHaveURL(/\/s\/ses_[a-z2-7]{24}$/);

  const conversation = page.getByRole("region", { name: "Conversation" });
  await expect(conversation.getByText("[watch] What does this page offer?")).toBeVisible();
  await expect(conversation.getByText("I open the page.")).toBeVisible();
  await expect(conversation.locator("strong", { hasText: "an offer" })).toBeVisible();
  await expect(page.getByRole("banner").getByText("Done")).toBeVisible();

  const thumbnail = conversation.getByRole("img").first();
  await expect(thumbnail).toBeVisible();
  await expect
    .poll(() => thumbnail.evaluate((image) => (image as HTMLImageElement).naturalWidth))
    .toBeGreaterThan(100);

  const live = liveView(page);
  await expect(live.canvas).toBeVisible();
  await expect.poll(() => live.colorAt(600, 500)).toEqual(GREEN);
  // The box blinks without any input, and the live picture shows both colors.
  const seen = new Set<string>();
  await expect
    .poll(async () => {
      const [red = 0] = await live.colorAt(PLACES.blink.x, PLACES.blink.y);
      return seen.add(red > 128 ? "red" : "blue").size;
    })
    .toBe(2);
});

test("a message from the page is a person's turn, which has the tools that external turns lack", async ({
  page,
  stage: { model, service },
}) => {
  script(model, { "[first]": [{ text: "The first answer." }], "[second]": [{ text: "The second answer." }] });
  const session = await service.create("[first] look", {
    tools: { externalTurnExclude: ["elicit_user_input"] },
  });
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("The first answer.")).toBeVisible();
  await page.getByLabel("Message to the agent").fill("[second] and now?");
  await page.keyboard.press("Enter");
  await expect(page.getByText("The second answer.")).toBeVisible();

  // Looks at the last matching request, because other tests of this worker use the same model and the same words.
  const requestOf = (words: string) => model.requests.findLast(({ userText }) => userText.includes(words));
  expect(toolsOf(requestOf("[first]"))).not.toContain("elicit_user_input");
  expect(toolsOf(requestOf("[second]"))).toContain("elicit_user_input");
});

test("a reload in mid-turn loses nothing and repeats nothing", async ({
  page,
  stage: { model, service },
}) => {
  const released = Promise.withResolvers<void>();
  const first = "The text so far is already here, ";
  script(model, {
    "[reload]": [
      { text: "I look first.", toolCalls: [{ name: "list_files", arguments: {} }] },
      { textChunks: [first, "and it goes on."], hold: released.promise, holdAt: "end" },
    ],
  });
  const session = await service.create("[reload] write");
  await page.goto(service.baseUrl + session.shareUrl);
  const conversation = page.getByRole("region", { name: "Conversation" });
  await expect(conversation.getByText(first)).toBeVisible();
  await page.reload();
  await expect(conversation.getByText(first)).toBeVisible();
  await expect(conversation.getByText("I look first.")).toHaveCount(1);
  released.resolve();
  await expect(page.getByRole("banner").getByText("Done")).toBeVisible();
  await expect(conversation.getByText(`${first}and it goes on.`)).toHaveCount(1);
  await expect(conversation.getByText("[reload] write")).toHaveCount(1);
  await expect(conversation.getByText("I look first.")).toHaveCount(1);
});

test("queued messages can be edited and removed until their turn begins", async ({
  page,
  stage: { model, service },
}) => {
  const released = Promise.withResolvers<void>();
  script(model, {
    "[queue]": [{ text: "Working on it.", hold: released.promise }],
    "[changed]": [{ text: "The changed one is done." }],
  });
  const session = await service.create("[queue] begin");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("Working on it.")).toBeVisible();
  const message = page.getByLabel("Message to the agent");
  for (const text of ["[kept] as it was", "[dropped] not this"]) {
    await message.fill(text);
    await message.press("Enter");
    await expect(
      page.getByRole("article", { name: "Queued message" }).filter({ hasText: text }),
    ).toBeVisible();
  }
  const queued = page.getByRole("article", { name: "Queued message" });
  await queued.filter({ hasText: "[dropped]" }).getByRole("button", { name: "Remove" }).click();
  await expect(queued).toHaveCount(1);
  await queued.getByRole("button", { name: "Edit" }).click();
  await queued.getByRole("textbox").fill("[changed] like this");
  await queued.getByRole("textbox").press("Enter");
  await expect(queued.getByRole("paragraph").filter({ hasText: "[changed] like this" })).toBeVisible();
  released.resolve();
  await expect(page.getByText("The changed one is done.")).toBeVisible();
  await expect(queued).toHaveCount(0);
  const userTexts = model.requests.map(({ userText }) => userText);
  expect(userTexts.filter((text) => /\[(kept|dropped)\]/.test(text))).toEqual([]);
});

test("stop ends the turn at once, and the next message continues", async ({
  page,
  stage: { model, service },
}) => {
  const never: Step = { text: "This takes for ever.", hold: new Promise(() => {}) };
  script(model, { "[stop]": [never], "[again]": [{ text: "Here I am again." }] });
  const session = await service.create("[stop] begin");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("This takes for ever.")).toBeVisible();
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.getByRole("banner").getByText("Stopped")).toBeVisible();
  await waitUntil(
    () =>
      model.requests.some(
        ({ userText, outcome }) => userText.includes("[stop]") && outcome === "client-left",
      ),
    "the model call was aborted",
  );
  await page.getByLabel("Message to the agent").fill("[again] go on");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Here I am again.")).toBeVisible();
});

test("a question of the agent is answered in its form, and the turn continues with the answer", async ({
  page,
  stage: { model, service },
}) => {
  const question = { question: "Which colour?", options: ["Red", "Green"] };
  script(model, {
    "[hello]": [{ text: "Hello." }],
    "[ask]": [{ toolCalls: [{ name: "elicit_user_input", arguments: question }] }, { text: "As you wish." }],
  });
  const session = await service.create("[hello]");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("Hello.")).toBeVisible();
  await page.getByLabel("Message to the agent").fill("[ask] me");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Which colour?").first()).toBeVisible();
  await expect(page.getByRole("banner").getByText("Waiting for you")).toBeVisible();
  await page.getByRole("button", { name: "Green" }).click();
  await expect(page.getByText("As you wish.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Green" })).toHaveCount(0);
  const request = model.requests.findLast(({ userText }) => userText.includes("[ask]"));
  expect(request?.toolResults).toEqual(["The person answered: Green"]);
});

test("the delivery log shows callbacks with the receiver's answers", async ({
  page,
  stage: { model, service },
}) => {
  script(model, { "[callback]": [{ text: "Told." }] });
  const receiver = await startReceiver([418]);
  const session = await service.create("[callback] tell them", {
    callback: { url: receiver.url, events: ["run.completed"] },
  });
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("Told.")).toBeVisible();
  await page.getByRole("tab", { name: "Activity" }).click();
  const log = page.getByRole("region", { name: "Callbacks" });
  await expect(log.getByText("run.completed")).toBeVisible();
  await expect(log.getByText("the receiver answered 418")).toBeVisible();
  await expect(log.getByRole("button", { name: "Send again" })).toBeHidden();
  await receiver.close();
});

test("a delivered callback can be sent again from the page", async ({ page, stage: { model, service } }) => {
  script(model, { "[again]": [{ text: "Told again." }] });
  const receiver = await startReceiver([200]);
  const session = await service.create("[again] tell them", {
    callback: { url: receiver.url, events: ["run.completed"] },
  });
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("Told again.")).toBeVisible();
  await page.getByRole("tab", { name: "Activity" }).click();
  const log = page.getByRole("region", { name: "Callbacks" });
  await expect(log.getByText("delivered")).toBeVisible();
  await log.getByRole("button", { name: "Send again" }).click();
  await expect.poll(() => receiver.received.length).toBe(2);
  const ids = receiver.received.map(({ headers }) => headers["x-service-delivery"]);
  expect(new Set(ids).size).toBe(1);
  await expect(log.getByText("2 attempts")).toBeVisible();
  await receiver.close();
});
