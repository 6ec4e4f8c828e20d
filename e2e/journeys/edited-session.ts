import { type Browser, expect, type Page } from "@playwright/test";
import { goTo, type Stage, script } from "./journey.ts";

/** Creates a session whose agent makes the changes `add` on a page, and opens the page of the session. */
export async function openEditedSession(
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
  // The text is shown while it arrives; the message is stored a moment later.
  await service.completed(session.statusUrl);
  return session;
}

/**
 * Opens the page of a session with a link that only allows watching. Waits for the page's first message from the
 * service: before that, the page shows what the service rendered, and React may replace parts of it.
 */
export async function openAsViewer(
  browser: Browser,
  service: Stage["service"],
  sessionId: string,
): Promise<Page> {
  const created = await service.call("POST", `/api/sessions/${sessionId}/share-links`, { role: "view" });
  const { shareUrl } = await created.json();
  const guest = await (await browser.newContext()).newPage();
  const connected = guest.waitForEvent("websocket").then((socket) => socket.waitForEvent("framereceived"));
  await guest.goto(service.baseUrl + shareUrl);
  await connected;
  return guest;
}

/** Returns the drawer of the session page, which contains results and changes. */
export const records = (page: Page) => page.getByRole("region", { name: "Result and records" });
