import { expect, type Page } from "@playwright/test";
import { logInOn } from "../fixtures/log-in.ts";
import type { Step } from "../fixtures/scripted-model/types.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { goTo, liveView, script, test } from "./journey.ts";

/** The widest and the narrowest screen. Other journeys check their own states at sizes in between. */
const SIZES = [
  { width: 2560, height: 1440 },
  { width: 360, height: 740 },
];
/**
 * Removes all articles of the reference except the first of each section, because the articles are alike and axe needs
 * minutes for all of them.
 */
const shortenReference = (page: Page) =>
  page.evaluate(() => {
    for (const section of document.querySelectorAll("main section"))
      for (const article of [...section.querySelectorAll("article")].slice(1)) article.remove();
  });

const openMenu = (page: Page) => page.getByRole("button", { name: "More" }).click();

for (const viewport of SIZES) {
  const isNarrow = viewport.width < 1024;

  test.describe(`at ${viewport.width} px`, () => {
    test.use({ viewport });

    test("the pages outside sessions have no accessibility violations", async ({
      page,
      cleanConsole,
      stage: { service },
    }) => {
      cleanConsole.allow(/status of 404/);
      await page.goto(service.baseUrl);
      await expectAccessible(page, "the login note");
      await openMenu(page);
      await expect(page.getByRole("menu")).toBeVisible();
      await expectAccessible(page, "the login note with its menu");
      await page.goto(`${service.baseUrl}/login?token=any`);
      await expectAccessible(page, "the page of a login link");
      await page.goto(`${service.baseUrl}/?login=expired`);
      await expectAccessible(page, "the expired login link");
      await page.goto(`${service.baseUrl}/s/ses_${"a".repeat(24)}`);
      await expectAccessible(page, "the 404 page");
      await page.goto(`${service.baseUrl}/docs`);
      await openMenu(page);
      // The menu opens only after React has hydrated the page. Removing elements earlier would disturb the hydration.
      await expect(page.getByRole("menu")).toBeVisible();
      await shortenReference(page);
      await expectAccessible(page, "the reference with its menu");
    });

    test("the landing page has no accessibility violations", async ({ page, stage: { model, service } }) => {
      script(model, { "[listed]": [{ text: "Hello." }] });
      await logInOn(page, await service.printLoginLink());
      await expect(page.getByRole("heading", { name: "Start a session" })).toBeVisible();
      await page.getByLabel("Structured result").click();
      await page.getByRole("button", { name: "Take the example" }).click();
      await page.getByLabel("May delegate to sub-agents").click();
      const command = page.getByRole("region", { name: "The same over HTTP" });
      await expect(command).toContainText('"subAgents": true');
      await expectAccessible(page, "the start form with a schema, for a session that may delegate");
      await page.getByLabel("May delegate to sub-agents").click();
      await expect(command).not.toContainText("subAgents");
      await page.getByRole("button", { name: "Start" }).click();
      await expect(page.getByRole("alert").first()).toBeVisible();
      await expectAccessible(page, "the start form with a problem");
      await page.getByLabel("Structured result").click();
      await page.getByLabel("Task", { exact: true }).fill("[listed] hello");
      await page.getByLabel("Page", { exact: true }).fill("");
      await page.getByRole("button", { name: "Start" }).click();
      await expect(page.getByText("Hello.", { exact: true })).toBeVisible();
      await page.goto(service.baseUrl);
      await openMenu(page);
      await expectAccessible(page, "the landing page with sessions and its menu");
    });

    test("a session's page has no accessibility violations in any state", async ({
      page,
      stage: { model, service, webPage },
    }) => {
      const released = Promise.withResolvers<void>();
      const question = { question: "Which?", options: ["Red", "Green"] };
      const properties = {
        email: { type: "string", format: "email", description: "For the receipt." },
        size: { type: "string", enum: ["S", "M"] },
        copies: { type: "integer", minimum: 1 },
        day: { type: "string", format: "date" },
        extras: { type: "array", items: { enum: ["Card", "Ribbon"] } },
        gift: { type: "boolean" },
      };
      const form = { question: "Where to?", form: { properties, required: ["email", "size", "extras"] } };
      const turns: Record<string, Step[]> = {
        "[tools]": [
          goTo(webPage.url, "I open the page."),
          { toolCalls: [{ name: "screenshot", arguments: {} }] },
          { text: "It is open." },
        ],
        "[ask]": [
          { toolCalls: [question, form].map((input) => ({ name: "elicit_user_input", arguments: input })) },
          { text: "It makes **an offer**, see [the page](https://shop.example)." },
        ],
        "[hold]": [{ text: "This takes long.", hold: released.promise }],
      };
      const results: Step[] = [{ json: { price: 12 } }, { text: "not JSON" }];
      model.respondWith(({ kind, userText, answersSoFar }) => {
        if (kind === "structured") return results.shift();
        const steps = Object.entries(turns).find(([words]) => userText.includes(words))?.[1];
        return kind === "turn" ? steps?.[Math.min(answersSoFar, steps.length - 1)] : undefined;
      });
      const session = await service.create("[tools] look", {
        outputSchema: { type: "object", properties: { price: { type: "number" } }, required: ["price"] },
        tools: { include: ["screenshot"] },
        callback: { url: "http://127.0.0.1:9/hook" },
      });
      const showPane = async (name: string) => {
        if (isNarrow)
          await page
            .getByRole("navigation", { name: "Parts of the session" })
            .getByRole("button", { name })
            .click();
      };
      await page.goto(service.baseUrl + session.shareUrl);
      const banner = page.getByRole("banner");
      await expect(banner.getByText("Done")).toBeAttached();
      await expectAccessible(page, "a turn that is done");
      await page.getByLabel("Message to the agent").fill("[ask] me");
      await page.keyboard.press("Enter");
      await expect(banner.getByText("Waiting for you")).toBeAttached();
      await expectAccessible(page, "a question that waits");
      await page.getByRole("button", { name: "Green" }).click();
      const fields = page.getByRole("region", { name: "Where to?" });
      await fields.getByRole("button", { name: "Answer" }).click();
      await expect(fields.getByRole("alert")).toHaveCount(3);
      await expectAccessible(page, "a form with problems");
      await fields.getByRole("button", { name: "Decline" }).click();
      await expect(banner.getByText("No valid result")).toBeAttached();
      await expectAccessible(page, "a failed result");
      await page.getByRole("button", { name: /^Opened / }).click();
      await expect(page.getByRole("heading", { name: /Input/ })).toBeVisible();
      await expectAccessible(page, "the opened tool detail");
      await openMenu(page);
      await expect(page.getByRole("menu")).toBeVisible();
      await expectAccessible(page, "the open menu");
      await page.keyboard.press("Escape");
      await page.keyboard.press("?");
      await expectAccessible(page, "the list of keys");
      await page.keyboard.press("Escape");
      if (isNarrow) {
        await openMenu(page);
        await page.getByRole("menuitem", { name: "Share" }).click();
      } else await page.getByRole("button", { name: "Share" }).click();
      await page.getByLabel("Label").fill("Design review");
      await page.getByRole("button", { name: "Create link" }).click();
      await expect(page.getByRole("button", { name: "Revoke: Design review" })).toBeVisible();
      await expectAccessible(page, "the share dialog");
      await page.keyboard.press("Escape");

      await showPane("Browser");
      await expect(liveView(page).canvas).toBeVisible();
      await expectAccessible(page, "the live view");
      await showPane("Result");
      await expect(page.getByRole("tab", { name: "Annotations" })).toHaveCount(0);
      for (const tab of ["Result", "Evidence", "Activity"]) {
        // The result has opened by itself.
        if (tab !== "Result") await page.getByRole("tab", { name: tab }).click();
        await expect(page.getByRole("tab", { name: tab })).toHaveAttribute("aria-selected", "true");
        await expectAccessible(page, `the tab ${tab}`);
      }

      await showPane("Conversation");
      await page.getByLabel("Message to the agent").fill("[hold] go on");
      await page.keyboard.press("Enter");
      await expect(page.getByText("This takes long.")).toBeVisible();
      await page.getByLabel("Message to the agent").fill("and then");
      await page.keyboard.press("Enter");
      await expect(page.getByRole("article", { name: "Queued message" })).toBeVisible();
      // The field is cleared when the service has answered.
      await expect(page.getByLabel("Message to the agent")).toHaveValue("");
      await page.keyboard.press("Escape");
      await expect(page.getByText("Press Esc again to stop", { exact: true })).toBeVisible();
      await expectAccessible(page, "a running turn with a queued message");
      released.resolve();
    });
  });
}
