import { expect, type Page } from "@playwright/test";
import { records } from "./edited-session.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { goTo, type Stage, script, test } from "./journey.ts";

test.use({ viewport: { width: 1280, height: 800 } });

const tab = (page: Page) => records(page).getByRole("tab", { name: /^Annotations/ });
const rows = (page: Page) => records(page).getByRole("list", { name: "Annotations" }).getByRole("article");
const filter = (page: Page, name: string) => records(page).getByRole("button", { name, exact: true });

/** Opens a session with two annotations, and its tab Annotations, with a link of a role. */
async function openAnnotated(page: Page, { model, service, webPage }: Stage, role: "comment" | "drive") {
  script(model, {
    "[look]": [goTo(webPage.url), { text: "I have looked." }],
    "": [{ text: "I handled them." }],
  });
  const session = await service.create("[look] Look at the page");
  const { sessionId } = session;
  await service.completed(session.statusUrl);
  const api = `/api/sessions/${sessionId}`;
  for (const [selector, comment] of [
    ["#offer", "Larger, please"],
    ["#no-such-element", "This is gone"],
  ])
    await service.call("POST", `${api}/annotations/webhook`, {
      event: "submit",
      annotations: [{ type: "element", selector, comment }],
      url: webPage.url,
    });
  const link = await service.call("POST", `${api}/share-links`, { role });
  const { shareUrl } = (await link.json()) as { shareUrl: string };
  await page.goto(service.baseUrl + shareUrl);
  await expect(page.getByText("I have looked.")).toBeVisible();
  await tab(page).click();
  return { ...session, api };
}

/** Takes pictures of the page if `SCREENSHOTS` names a folder for the pictures. */
async function takePictures(page: Page, what: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined) return;
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `${folder}/${what}-${colorScheme}.png` });
  }
}

test("annotations are sent to the agent, and are lost, resolved and opened again", async ({
  page,
  stage,
}) => {
  const { api } = await openAnnotated(page, stage, "drive");
  // The tab makes the service look for the elements.
  await expect(rows(page)).toHaveText([/Not on the page.*This is gone/, /Open.*Larger, please/]);
  const send = records(page).getByRole("button", { name: "Send 1 to the agent" });
  await expectAccessible(page, "the tab with an open and a lost annotation");
  await takePictures(page, "annotations-1280");
  await send.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByText("With 1 annotation")).toBeVisible();
  await expect(page.getByText("I handled them.")).toBeVisible();
  const request = stage.model.requests.findLast(({ kind }) => kind === "turn");
  expect(JSON.stringify(request?.body.input)).toContain("1. comment: Larger, please");
  await expect(rows(page)).toHaveCount(1);
  await expect(records(page).getByRole("button", { name: "Send 0 to the agent" })).toBeFocused();
  await filter(page, "Sent").click();
  await expect(rows(page)).toHaveText([/Sent to the agent.*Larger, please/]);
  await rows(page).getByRole("button", { name: "Resolve" }).click();
  await expect(rows(page)).toHaveCount(0);
  await filter(page, "Resolved").click();
  await expect(rows(page)).toHaveText([/Resolved.*Larger, please/]);
  const [annotation] = (await (await stage.service.call("GET", `${api}/annotations?status=resolved`)).json())
    .data;
  await stage.service.call("PATCH", `${api}/annotations/${annotation.id}`, {
    status: "resolved",
    resolution: "The offer is larger now.",
  });
  await expect(rows(page)).toContainText("The offer is larger now.");
  await page.reload();
  await tab(page).click();
  await filter(page, "All").click();
  await expect(rows(page)).toHaveText([/This is gone/, /The offer is larger now\./]);
  // A lost annotation is sent only by the button in its row.
  await rows(page).nth(0).getByRole("button", { name: "Send to the agent" }).click();
  await expect(rows(page).nth(0)).toContainText("Sent to the agent");
  await page.setViewportSize({ width: 375, height: 740 });
  await expectAccessible(page, "the tab at 375 px");
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
  await takePictures(page, "annotations-375");
  await rows(page).nth(1).getByRole("button", { name: "Reopen" }).click();
  await expect(rows(page).nth(1)).toContainText("Open");
  await rows(page).nth(1).getByRole("button", { name: "Remove" }).click();
  await expect(rows(page)).toHaveCount(1);
});

test("a link for comments resolves and reopens annotations, and sends and removes none", async ({
  page,
  stage,
}) => {
  await openAnnotated(page, stage, "comment");
  await expect(rows(page)).toHaveCount(2);
  await expect(records(page).getByRole("button", { name: /to the agent$/ })).toHaveCount(0);
  await expect(rows(page).getByRole("button", { name: "Remove" })).toHaveCount(0);
  await rows(page).filter({ hasText: "Larger" }).getByRole("button", { name: "Resolve" }).click();
  await expect(rows(page)).toHaveText([/This is gone/]);
  await filter(page, "Resolved").click();
  await rows(page).getByRole("button", { name: "Reopen" }).click();
  await expect(rows(page)).toHaveCount(0);
});
