import { expect, type Locator, type Page } from "@playwright/test";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { script, test } from "./journey.ts";

const FORM = {
  properties: {
    email: { type: "string", format: "email", title: "Email" },
    size: {
      type: "string",
      oneOf: [
        { const: "s", title: "Small" },
        { const: "l", title: "Large" },
      ],
      title: "Size",
    },
    copies: { type: "integer", minimum: 1, maximum: 9, default: 1, title: "Copies" },
    day: { type: "string", format: "date", title: "Delivery day", description: "A working day." },
    extras: { type: "array", items: { enum: ["Card", "Ribbon"] }, title: "Extras" },
    gift: { type: "boolean", title: "Gift" },
  },
  required: ["email", "size"],
};
const elicit = (input: object) => ({ toolCalls: [{ name: "elicit_user_input", arguments: input }] });

const message = (page: Page) => page.getByLabel("Message to the agent");
const questionOf = (page: Page, question: string): Locator => page.getByRole("region", { name: question });
const resultsOf = (model: ScriptedModel, words: string) =>
  model.requests.findLast(({ userText }) => userText.includes(words))?.toolResults;

test("a form is filled in, its problems are shown next to their fields, and the agent gets the answer", async ({
  page,
  stage: { model, service },
}) => {
  script(model, {
    "[hello]": [{ text: "Hello." }],
    "[order]": [elicit({ question: "Where shall it go?", form: FORM }), { text: "It is on its way." }],
  });
  const session = await service.create("[hello]");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("Hello.")).toBeVisible();
  const title = await page.title();
  await message(page).fill("[order] it");
  await page.keyboard.press("Enter");
  const question = questionOf(page, "Where shall it go?");
  await expect(question).toBeVisible();
  await expect(page).toHaveTitle(`Question · ${title}`);
  await expect(page.getByRole("banner").getByText("Waiting for your answer")).toBeVisible();
  await expect(question.getByLabel("Copies")).toHaveValue("1");

  await question.getByLabel("Email").fill("ada");
  await question.getByLabel("Copies").fill("12");
  await question.getByRole("button", { name: "Answer" }).click();
  await expect(question.getByRole("alert")).toHaveText([
    "Email must be an email address.",
    "Size is required.",
    "Copies must be at most 9.",
  ]);
  await expect(question.getByLabel("Email")).toBeFocused();

  await question.getByLabel("Email").fill("ada@shop.example");
  await question.getByLabel("Size").selectOption("Large");
  await question.getByLabel("Copies").fill("2");
  await question.getByLabel("Delivery day").fill("2026-12-24");
  await question.getByLabel("Ribbon").check();
  await question.getByLabel("Gift").check();
  await expect(question.getByRole("alert")).toHaveCount(0);
  await question.getByRole("button", { name: "Answer" }).click();
  await expect(page.getByText("It is on its way.")).toBeVisible();
  await expect(question).toHaveCount(0);
  await expect(page).toHaveTitle(title);
  const value = {
    email: "ada@shop.example",
    size: "l",
    copies: 2,
    day: "2026-12-24",
    extras: ["Ribbon"],
    gift: true,
  };
  expect(resultsOf(model, "[order]")).toEqual([`The person answered: ${JSON.stringify(value)}`]);
});

test("people who open the session later see a question, and can answer it from another browser", async ({
  page,
  browser,
  stage: { model, service },
}) => {
  script(model, {
    "[hello]": [{ text: "Hello." }],
    "[ask]": [elicit({ question: "Which colour?", options: ["Red", "Green"] }), { text: "As you wish." }],
  });
  const session = await service.create("[hello]");
  await page.goto(service.baseUrl + session.shareUrl);
  await message(page).fill("[ask] me");
  await page.keyboard.press("Enter");
  await expect(questionOf(page, "Which colour?")).toBeVisible();

  const other = await browser.newContext({ viewport: { width: 390, height: 780 }, colorScheme: "dark" });
  const otherPage = await other.newPage();
  await otherPage.goto(service.baseUrl + session.shareUrl);
  const question = questionOf(otherPage, "Which colour?");
  await expect(question.getByRole("button", { name: "Green" })).toBeVisible();
  await expect(otherPage).toHaveTitle(/^Question · /);
  await question.getByLabel("Which colour?").last().fill("a deep blue");
  // Waits until no more requests are sent, because the title is set again when the metadata of the page arrives.
  await otherPage.waitForLoadState("networkidle");
  expect(await otherPage.title()).toMatch(/^Question · /);
  await question.getByRole("button", { name: "Answer" }).click();
  for (const each of [page, otherPage]) {
    await expect(each.getByText("As you wish.")).toBeVisible();
    await expect(questionOf(each, "Which colour?")).toHaveCount(0);
  }
  expect(resultsOf(model, "[ask]")).toEqual(["The person answered: a deep blue"]);
  await other.close();
});

test("a question is declined, or withdrawn by a message, which the agent reads instead", async ({
  page,
  stage: { model, service },
}) => {
  script(model, {
    "[hello]": [{ text: "Hello." }],
    "[one]": [elicit({ question: "Which colour?" }), { text: "Without a colour, then." }],
    "[two]": [elicit({ question: "Which size?" }), { text: "Not reached." }],
    "any size": [{ text: "Any size it is." }],
  });
  const session = await service.create("[hello]");
  await page.goto(service.baseUrl + session.shareUrl);
  await message(page).fill("[one] go");
  await page.keyboard.press("Enter");
  await questionOf(page, "Which colour?").getByRole("button", { name: "Decline" }).click();
  await expect(page.getByText("Without a colour, then.")).toBeVisible();

  await message(page).fill("[two] go");
  await page.keyboard.press("Enter");
  await expect(questionOf(page, "Which size?")).toBeVisible();
  await expect(message(page)).toHaveAttribute("placeholder", "Or tell the agent something else");
  await message(page).fill("Take any size");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Any size it is.")).toBeVisible();
  await expect(questionOf(page, "Which size?")).toHaveCount(0);
  await expect(page.getByRole("banner").getByText("Done")).toBeVisible();
});
