import { type Browser, expect, type Page, type WebSocketRoute } from "@playwright/test";
import { waitUntil } from "../fixtures/service.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { GREEN, goTo, liveView, PLACES, type Stage, script, test } from "./journey.ts";

test.use({ viewport: { width: 1400, height: 900 } });

const stageOf = (page: Page) => page.getByRole("region", { name: "Live browser" });
const button = (page: Page, name: string) => stageOf(page).getByRole("button", { name, exact: true });

/** Creates a link with a label. @returns its address. */
async function createLink({ service }: Stage, sessionId: string, label: string): Promise<string> {
  const answer = await service.call("POST", `/api/sessions/${sessionId}/share-links`, {
    role: "drive",
    label,
  });
  const { shareUrl } = (await answer.json()) as { shareUrl: string };
  return new URL(shareUrl, service.baseUrl).href;
}

/** Opens a link in a browser of its own, as another person does. */
async function visit(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  const page = await context.newPage();
  await page.goto(url);
  await expect(liveView(page).canvas).toBeVisible();
  return page;
}

/** Opens a session whose agent has opened the web page and then works in it until a person takes over. */
async function beginWork({ model, service, webPage }: Stage) {
  const work = `await page.goto(${JSON.stringify(webPage.url)}); await page.waitForTimeout(110_000);`;
  script(model, {
    "[work]": [
      { toolCalls: [{ name: "browser_execute", arguments: { script: work, timeoutMs: 120_000 } }] },
      { toolCalls: [{ name: "browser_execute", arguments: { script: "return page.title()" } }] },
      { text: "The rest is done." },
    ],
  });
  return service.create("[work] in the page");
}

test("two people take control from the agent and from each other, and give it back with a note", async ({
  page,
  browser,
  stage,
}) => {
  const { sessionId } = await beginWork(stage);
  const [ada, bob] = [await createLink(stage, sessionId, "Ada"), await createLink(stage, sessionId, "Bob")];
  await page.goto(ada);
  const live = liveView(page);
  // A person who takes control before the agent has opened the page has a blank one.
  await expect.poll(() => live.colorAt(20, 20)).toEqual(GREEN);
  await expect(stageOf(page).getByText("Agent has control", { exact: true })).toBeVisible();

  // Neither a click nor a key takes control. Both say how to get it.
  await live.click(PLACES.field.x, PLACES.field.y);
  await expect(stageOf(page).getByText("You are watching. Take over to click and type.")).toBeVisible();
  await page.keyboard.type("x");
  await expect(stageOf(page).getByText("Agent has control", { exact: true })).toBeVisible();
  await expectAccessible(page, "the hint for a visitor who watches");

  await stageOf(page).getByRole("button", { name: "Take over" }).first().click();
  await expect(stageOf(page).getByText("You have control")).toBeVisible();
  await expect(page.getByText("interrupted by Ada")).toBeVisible();
  await expect(page.getByText("failed", { exact: true })).toHaveCount(0);
  await live.click(PLACES.field.x, PLACES.field.y);
  await page.keyboard.type("Ada");
  await waitUntil(() => stage.webPage.typed.at(-1) === "Ada", "the text has arrived");

  // Esc, the message box and another tab do not change control.
  await page.keyboard.press("Escape");
  await page.getByLabel("Message to the agent").fill("one moment");
  const other = await page.context().newPage();
  await other.bringToFront();
  await page.bringToFront();
  await other.close();
  await expect(stageOf(page).getByText("You have control")).toBeVisible();

  const second = await visit(browser, bob);
  await expect(stageOf(second).getByText("Ada has control", { exact: true })).toBeVisible();
  await button(second, "Take over").click();
  await expect(stageOf(second).getByText("Ada has control", { exact: true })).toBeVisible();
  await expectAccessible(second, "the question before control is taken from a person");
  await button(second, "Take over from Ada").click();
  await expect(stageOf(second).getByText("You have control")).toBeVisible();
  await expect(stageOf(page).getByText("Bob took control of the browser.")).toBeVisible();
  await expect(stageOf(page).getByText("Bob has control", { exact: true })).toBeVisible();
  await expectAccessible(page, "a visitor who has lost control");
  await button(page, "Close the notice").click();
  await live.click(PLACES.field.x, PLACES.field.y);
  await page.keyboard.type("late");
  await liveView(second).click(PLACES.field.x, PLACES.field.y);
  await second.keyboard.type(" and Bob");
  await waitUntil(() => stage.webPage.typed.at(-1)?.includes("and Bob") === true, "Bob's text has arrived");
  expect(stage.webPage.typed.at(-1)).not.toContain("late");

  await button(second, "Give back").click();
  await second.getByLabel("Note to the agent").fill("The name is complete");
  await expectAccessible(second, "the form that gives control back");
  await second.getByRole("dialog").getByRole("button", { name: "Give back" }).click();
  await expect(page.getByText("The rest is done.")).toBeVisible();
  const told = stage.model.requests.at(-1)?.toolResults.at(-1) ?? "";
  const [first, last] = told.split("\n");
  expect(first).toMatch(/^"Ada", a person, had control .* lost it to "Bob": 1 click, filled "Name"; /);
  expect(last).toMatch(
    /^"Bob", a person, .* gave it back: 1 click, filled "Name"; .* "The name is complete"$/,
  );
  await second.context().close();
});

test("control outlives a lost connection and a reload of the same tab, and no other tab gets it", async ({
  page,
  browser,
  stage,
}) => {
  script(stage.model, { "[open]": [goTo(stage.webPage.url), { text: "The page is open." }] });
  const { sessionId } = await stage.service.create("[open] the page");
  const [ada, bob] = [await createLink(stage, sessionId, "Ada"), await createLink(stage, sessionId, "Bob")];
  const sockets: { toPage: WebSocketRoute; toService: WebSocketRoute }[] = [];
  await page.routeWebSocket(/\/live/, (toPage) => {
    sockets.push({ toPage, toService: toPage.connectToServer() });
  });
  await page.goto(ada);
  await expect(page.getByText("The page is open.")).toBeVisible();
  await button(page, "Take over").click();
  await expect(stageOf(page).getByText("You have control")).toBeVisible();
  const second = await visit(browser, bob);
  await expect(stageOf(second).getByText("Ada has control", { exact: true })).toBeVisible();

  const lost = sockets.at(-1);
  await lost?.toService.close({ code: 3_000, reason: "the network is gone" });
  await lost?.toPage.close({ code: 3_000, reason: "the network is gone" });
  await waitUntil(() => sockets.length === 2, "the page connects again");
  await expect(stageOf(page).getByText("You have control")).toBeVisible();
  await expect(stageOf(second).getByText("Ada has control", { exact: true })).toBeVisible();
  await page.reload();
  await expect(stageOf(page).getByText("You have control")).toBeVisible();
  await liveView(page).click(PLACES.field.x, PLACES.field.y);
  await page.keyboard.type("still Ada");
  await waitUntil(() => stage.webPage.typed.at(-1)?.endsWith("still Ada") === true, "the text has arrived");
  const copy = await page.context().newPage();
  await copy.goto(ada);
  await expect(stageOf(copy).getByText("Ada has control", { exact: true })).toBeVisible();
  await copy.close();

  // The service announces the end two minutes after the last input. This test does not wait that long.
  const now = Date.now();
  const data = {
    holder: "you",
    name: "Ada",
    expiresAt: new Date(now + 27_000).toISOString(),
    expiresBecause: "idle",
    ended: null,
  };
  const timestamp = new Date(now).toISOString();
  sockets.at(-1)?.toPage.send(JSON.stringify({ type: "control", sessionId, timestamp, data }));
  await expect(stageOf(page).getByText(/control goes back in \d+ s/)).toBeVisible();
  await expectAccessible(page, "the countdown to the end of control");
  const kept = Promise.withResolvers<string>();
  sockets.at(-1)?.toPage.onMessage((message) => {
    if (String(message).includes("control.keep")) kept.resolve(String(message));
    sockets.at(-1)?.toService.send(message);
  });
  await button(page, "Keep control").click();
  expect(JSON.parse(await kept.promise)).toEqual({ type: "control.keep" });
  await second.context().close();
});
