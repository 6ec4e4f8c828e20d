import { expect, type Page } from "@playwright/test";
import { goTo, type Stage, script } from "./journey.ts";

/** A session whose agent has made these changes of a page, opened on its page. */
export async function openEdited(
  page: Page,
  { model, service, webPage }: Stage,
  add: Record<string, unknown>[],
  url = webPage.url,
) {
  script(model, {
    "[edit]": [
      goTo(url),
      { toolCalls: [{ name: "apply_variant", arguments: { baseRevision: 0, add } }] },
      { text: "The page is changed." },
    ],
  });
  const session = await service.create("[edit] Change the page");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("The page is changed.")).toBeVisible();
  return session;
}

/** The part of the page that holds results and changes. */
export const records = (page: Page) => page.getByRole("region", { name: "Result and records" });
