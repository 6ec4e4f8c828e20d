import { mkdir } from "node:fs/promises";
import { expect, type Page } from "@playwright/test";
import { waitUntil } from "../fixtures/service.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { type Stage, script, test } from "./journey.ts";

const SHOTS = process.env.SCREENSHOTS;

/** Takes pictures for people if `SCREENSHOTS` names a folder. */
async function picture(page: Page, name: string): Promise<void> {
  if (SHOTS === undefined) return;
  await mkdir(SHOTS, { recursive: true });
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [360, 1_024]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      await page.screenshot({ path: `${SHOTS}/${name}-${colorScheme}-${width}.png`, fullPage: true });
    }
}

/** Starts a turn that waits. @returns its session, and the link to its item. */
async function start({ model, service }: Stage, words: string, call: { name: string; arguments: object }) {
  script(model, { [words]: [{ toolCalls: [call] }, { text: "Thank you." }] });
  const session = await service.create(words, {
    capabilities: { browser: false },
    interaction: { mode: "ask" },
    tools: { approve: ["write_file"] },
  });
  let link = "";
  await waitUntil(async () => {
    const { data } = await service.read<{ data: { answerUrl?: string }[] }>(
      `/api/sessions/${session.sessionId}/inbox?state=open`,
    );
    link = data[0]?.answerUrl ?? "";
    return link !== "";
  }, "the turn waits");
  return { session, link };
}

const FORM = {
  properties: {
    size: { type: "string", enum: ["S", "M"], title: "Size" },
    count: { type: "integer", minimum: 1, title: "Count", description: "How many shirts you want." },
    day: { type: "string", format: "date", title: "Day" },
    gift: { type: "boolean", title: "It is a gift" },
    extras: { type: "array", items: { enum: ["bow", "card"] }, title: "Extras" },
  },
  required: ["size", "count"],
};

test("a person fills in the form of a question by keyboard, corrects it, and the turn continues", async ({
  page,
  stage,
  cleanConsole,
}) => {
  // The form with a mistake is sent back with the status 422, which Chromium reports.
  cleanConsole.allow(/status of 422/);
  cleanConsole.allow(/status of 410/);
  const { session, link } = await start(stage, "[form]", {
    name: "elicit_user_input",
    arguments: { question: "Which shirt do you want?", form: FORM },
  });
  await page.goto(link);
  await expect(page).toHaveTitle("Which shirt do you want?");
  await expectAccessible(page, "the form of a question");
  await picture(page, "form");
  await page.getByLabel("Size").selectOption("M");
  await page.getByLabel("Count").fill("many");
  await page.getByLabel("It is a gift").check();
  await page.getByLabel("card").check();
  await page.getByLabel("Count").press("Enter");
  await expect(page.getByRole("alert")).toContainText("Nothing was sent.");
  await expect(page.getByLabel("Count")).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByLabel("Count")).toHaveAccessibleDescription(
    "How many shirts you want. Count must be a number.",
  );
  await expect(page.getByLabel("Size")).toHaveValue("M");
  await expect(page.getByLabel("card")).toBeChecked();
  await expectAccessible(page, "the form with a mistake");
  await picture(page, "form-with-a-mistake");
  await page.getByLabel("Count").fill("2");
  await page.getByRole("button", { name: "Send answer" }).click();
  await expect(page.getByRole("heading", { name: "Your answer was sent" })).toBeVisible();
  await expectAccessible(page, "the answer was sent");
  await stage.service.completed(session.statusUrl);
  const results = stage.model.requests.findLast(({ userText }) => userText.includes("[form]"))?.toolResults;
  expect(results?.[0]).toContain('"size":"M","count":2,"gift":true,"extras":["card"]');
  await page.goto(link);
  await expect(page.getByRole("heading", { name: "This question has been answered" })).toBeVisible();
  await expectAccessible(page, "a link that is used up");
  await picture(page, "used-up");
});

test("a person sees the exact call and denies it with a reason; a wrong link shows nothing", async ({
  page,
  stage,
  cleanConsole,
}) => {
  cleanConsole.allow(/status of 404/);
  const { session, link } = await start(stage, "[call]", {
    name: "write_file",
    arguments: { path: "notes/a.txt", content: `<script>alert(1)</script>${"long ".repeat(200)}` },
  });
  await page.goto(link);
  await expect(page.getByRole("region", { name: "Arguments" })).toContainText('"path": "notes/a.txt"');
  await expect(page.getByRole("region", { name: "Arguments" })).toContainText("<script>alert(1)</script>");
  for (const width of [320, 1_024]) {
    await page.setViewportSize({ width, height: 700 });
    await expectAccessible(page, "an approval");
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow, `${width} px`).toBeLessThanOrEqual(0);
  }
  await picture(page, "approval");
  await page.getByLabel("Reason to deny it").fill("Not today");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "You denied the call" })).toBeVisible();
  await stage.service.completed(session.statusUrl);
  const results = stage.model.requests.findLast(({ userText }) => userText.includes("[call]"))?.toolResults;
  expect(results?.[0]).toContain("Not today");
  const response = await page.goto(link.replace(/key=./, "key=_"));
  expect(response?.status()).toBe(404);
  await expect(page.getByRole("heading", { name: "This link is not valid" })).toBeVisible();
});
