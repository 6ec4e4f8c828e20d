import { expect, type Page } from "@playwright/test";
import type { Step } from "../fixtures/scripted-model/types.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { goTo, script, test } from "./journey.ts";

test.use({ viewport: { width: 1280, height: 800 } });

/** Creates a step in which the agent's script paints the page. */
const paint = (colour: string): Step => ({
  text: `I paint it ${colour}.`,
  toolCalls: [
    {
      name: "browser_execute",
      arguments: {
        script: `await page.evaluate((colour) => { document.body.style.background = colour; document.title = colour; }, "${colour}");`,
      },
    },
  ],
});

/** Takes pictures of the page if `SCREENSHOTS` names a folder for the pictures. */
async function takePictures(page: Page, what: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined) return;
  for (const width of [375, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${folder}/${what}-${width}-${colorScheme}.png` });
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

test("a person moves through the recording of a session, and opens a moment from a tool line", async ({
  page,
  stage: { model, service, webPage },
}) => {
  script(model, {
    "[record]": [goTo(webPage.url), paint("red"), paint("blue"), { text: "Painted." }],
  });
  const session = await service.create("[record] Paint the page");
  await service.completed(session.statusUrl);
  await page.goto(service.baseUrl + session.shareUrl);
  const recording = page.getByRole("region", { name: "Recording" });
  await expect(recording).toBeHidden();

  await page.getByRole("button", { name: "View", exact: true }).click();
  await page.getByRole("menuitem", { name: "Recording" }).click();
  const moment = recording.getByRole("slider", { name: "Moment of the recording" });
  const picture = recording.getByRole("img");
  await expect(picture).toHaveAccessibleName("The page at this moment: blue");
  await expect(recording.getByRole("button", { name: "Next picture" })).toBeDisabled();
  await expect
    .poll(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth))
    .toBeGreaterThan(100);
  await recording.getByRole("button", { name: "Previous picture" }).click();
  await expect(picture).toHaveAccessibleName("The page at this moment: red");
  await expectAccessible(page, "the recording");
  await takePictures(page, "recording");

  await moment.focus();
  await page.keyboard.press("Home");
  await expect(recording.getByText(/^1 of \d/)).toBeVisible();
  await page.keyboard.press("End");
  await expect(picture).toHaveAccessibleName("The page at this moment: blue");

  const conversation = page.getByRole("region", { name: "Conversation" });
  await recording.getByRole("button", { name: "Back to live" }).click();
  await expect(recording).toBeHidden();
  // The lines of the three calls, in their order.
  await conversation.locator("button[aria-expanded=false]").nth(1).click();
  await conversation.getByRole("button", { name: "Show the page after this call" }).first().click();
  await expect(picture).toHaveAccessibleName("The page at this moment: red");
});
