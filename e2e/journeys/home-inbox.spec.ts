import { randomUUID } from "node:crypto";
import { expect, type Page } from "@playwright/test";
import { logInOn } from "../fixtures/log-in.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { script, test } from "./journey.ts";
import { recordNotifications } from "./record-notifications.ts";
import { startOnHome } from "./start-on-home.ts";

test.use({ viewport: { width: 1280, height: 900 } });

const inbox = (page: Page) => page.getByRole("region", { name: "Waiting for you", exact: true });

test("what waits for a person is listed on the landing page with a count, and opens its session", async ({
  page,
  context,
  stage: { model, service },
}) => {
  // Other tests leave items in the inbox. Only those of this one contain the words.
  const [colour, size] = [`Colour ${randomUUID()}?`, `Size ${randomUUID()}?`];
  const ask = (question: string) => ({
    toolCalls: [{ name: "elicit_user_input", arguments: { question, options: ["Red", "Green"] } }],
  });
  script(model, {
    "[colour]": [ask(colour), { text: "As you wish." }],
    "[size]": [ask(size), { text: "As large as you wish." }],
  });
  const { hide, shown } = await recordNotifications(page, service.baseUrl);
  await logInOn(page, await service.printLoginLink());
  await startOnHome(page, "[colour] of the shop");
  const row = inbox(page).getByRole("link", { name: colour });
  await expect(row).toBeVisible();
  await expect(row).toContainText("Question");
  await expect(row).toContainText("[colour] of the shop");
  await expect(page).toHaveTitle(/^\d+\+? waiting · /);
  await expectAccessible(page, "the landing page with an inbox");
  await page.setViewportSize({ width: 375, height: 800 });
  await expectAccessible(page, "the narrow landing page with an inbox");
  await page.setViewportSize({ width: 1280, height: 900 });

  await inbox(page).getByRole("button", { name: "Notify me" }).click();
  await expect(inbox(page).getByRole("button", { name: "Notifications are on" })).toBeVisible();
  await hide(true);
  await startOnHome(page, "[size] of the shop");
  await expect.poll(shown).toEqual([`${size}: Question · [size] of the shop`]);
  await hide(false);

  const other = await context.newPage();
  await other.goto(service.baseUrl + (await row.getAttribute("href")));
  await other.getByRole("button", { name: "Red", exact: true }).click();
  await expect(other.getByText("As you wish.")).toBeVisible();
  // No reload: the inbox reads itself again.
  await expect(row).toHaveCount(0);
});
