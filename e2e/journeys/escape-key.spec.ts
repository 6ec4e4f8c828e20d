import { expect, type Page } from "@playwright/test";
import { goTo, liveView, script, test } from "./journey.ts";

test.use({ viewport: { width: 1400, height: 900 } });

const state = (page: Page, word: string) => page.getByRole("banner").getByText(word, { exact: true });
const stopHint = (page: Page) => page.getByText("Press Esc again to stop", { exact: true });

test("Esc leaves a field, a menu, a dialog or the live view, and the turn continues", async ({
  page,
  stage: { model, service, webPage },
}) => {
  const question = { question: "Which colour?" };
  script(model, {
    "[hello]": [goTo(webPage.url), { text: "Hello." }],
    "[leave]": [
      { toolCalls: [{ name: "elicit_user_input", arguments: question }] },
      { text: "As you wish." },
    ],
  });
  const session = await service.create("[hello]");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("Hello.")).toBeVisible();
  const message = page.getByLabel("Message to the agent");
  // The agent asks its question in the second turn, because it waits for an answer only in a turn that a person
  // started. The API started the first turn.
  await message.fill("[leave] ask me");
  await message.press("Enter");
  await expect(state(page, "Waiting for your answer")).toBeVisible();

  const answer = page.getByRole("textbox", { name: "Which colour?" });
  await answer.fill("half an ans");
  await answer.press("Escape");
  await expect(answer).not.toBeFocused();
  await expect(answer).toHaveValue("half an ans");
  await message.fill("half a message");
  await message.press("Escape");
  await expect(message).not.toBeFocused();
  await expect(message).toHaveValue("half a message");

  await page.getByRole("button", { name: "More" }).click();
  await expect(page.getByRole("menu")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("menu")).toHaveCount(0);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Help" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);

  const live = liveView(page);
  await expect(live.canvas).toBeVisible();
  await live.takeOver();
  await live.click(600, 500);
  // A person may press Esc several times, for example to close a dialog of the live page. These presses must not stop
  // the agent.
  for (let press = 0; press < 5; press++) await page.keyboard.press("Escape");
  await expect(page.getByText("Esc leaves")).toHaveCount(0);
  await expect(page.getByText("You have control")).toBeVisible();

  await expect(stopHint(page)).toHaveCount(0);
  await expect(state(page, "Waiting for your answer")).toBeVisible();
  // The agent waits as long as a person has control.
  await live.giveBack();
  await answer.press("Enter");
  await expect(page.getByText("As you wish.")).toBeVisible();
});

test("Esc stops the agent on the second press, from outside a field or from an empty message", async ({
  page,
  stage: { model, service },
}) => {
  script(model, { "[press]": [{ text: "This takes long.", hold: new Promise(() => {}) }] });
  const session = await service.create("[press] begin");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("This takes long.")).toBeVisible();
  const message = page.getByLabel("Message to the agent");
  await message.focus();
  await page.keyboard.press("Escape");
  await expect(stopHint(page)).toBeVisible();
  await expect(
    page.getByRole("status").filter({ hasText: "Press Esc again to stop the agent." }),
  ).toHaveCount(1);
  // After one Esc, any other action of the person cancels the stop.
  await page.keyboard.type("a word");
  await expect(stopHint(page)).toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(message).not.toBeFocused();
  await expect(stopHint(page)).toHaveCount(0);
  await page.keyboard.press("Escape");
  await expect(stopHint(page)).toBeVisible();
  await page.getByText("This takes long.").click();
  await expect(stopHint(page)).toHaveCount(0);
  // A key that is held down sends repeated events. They do not count as a second press.
  await page.keyboard.down("Escape");
  await page.keyboard.down("Escape");
  await page.keyboard.down("Escape");
  await page.keyboard.up("Escape");
  await expect(stopHint(page)).toBeVisible();
  await expect(state(page, "Working")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(state(page, "Stopped")).toBeVisible();
});

test("the help says what Esc does and how to annotate", async ({ page, stage: { model, service } }) => {
  script(model, { "[keys]": [{ text: "Hello." }] });
  const session = await service.create("[keys] hello");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("Hello.")).toBeVisible();
  const keys = page.getByRole("dialog", { name: "Help" });
  // The text is visible before the page listens to keys.
  await expect(async () => {
    await page.keyboard.press("?");
    await expect(keys).toBeVisible({ timeout: 2_000 });
  }).toPass();
  await expect(keys).toContainText("Close the menu or window, leave the field or browser");
  await expect(keys).toContainText("Stop the agent, from outside a field or an empty message");
  await expect(keys).toContainText("Choose Annotate above the live page");
});
