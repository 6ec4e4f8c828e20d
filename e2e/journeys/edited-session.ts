import { type Browser, expect, type Page } from "@playwright/test";
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

/** The session's page as the holder of a link that may only watch. */
export async function openAsViewer(
  browser: Browser,
  service: Stage["service"],
  sessionId: string,
): Promise<Page> {
  const created = await service.call("POST", `/api/sessions/${sessionId}/share-links`, { role: "view" });
  const { shareUrl } = await created.json();
  const guest = await (await browser.newContext()).newPage();
  await guest.goto(service.baseUrl + shareUrl);
  return guest;
}

/** The part of the page that holds results and changes. */
export const records = (page: Page) => page.getByRole("region", { name: "Result and records" });
