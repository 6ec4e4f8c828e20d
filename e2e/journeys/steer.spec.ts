import { expect, type Page } from "@playwright/test";
import { listDescendants } from "../crash/processes.ts";
import { startService } from "../fixtures/service.ts";
import { script, test } from "./journey.ts";

test.use({ viewport: { width: 1400, height: 900 } });

const messageBox = (page: Page) => page.getByLabel("Message to the agent");
const mode = (page: Page, name: string) => page.getByRole("radio", { name, exact: true });
const waiting = (page: Page) =>
  page.getByRole("article", { name: /^(Queued|Steering|Interrupting) message$/ });
const LIST_FILES = { name: "list_files", arguments: {} };

test("a steering message comes before the queue, is read at the next step, and stays marked", async ({
  page,
  stage: { model, service },
}) => {
  const released = Promise.withResolvers<void>();
  script(model, {
    "[steered]": [{ text: "I look around.", toolCalls: [LIST_FILES], hold: released.promise }],
    "[left]": [{ text: "I turn left." }],
    "[right]": [{ text: "I turn right, too." }],
    "[later]": [{ text: "Now the later thing." }],
  });
  const session = await service.create("[steered] begin");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("I look around.")).toBeVisible();

  await messageBox(page).fill("[later] when you are done");
  await messageBox(page).press("Enter");
  await expect(waiting(page)).toHaveText([/\[later\].*Queued/]);
  // The choice of the mode is the next Tab stop after the message box. The arrow keys change the choice.
  await messageBox(page).press("Tab");
  await expect(mode(page, "Queue")).toBeFocused();
  await page.keyboard.press("ArrowRight");
  await expect(mode(page, "Steer")).toBeChecked();
  await messageBox(page).fill("[left] first");
  await messageBox(page).press("Enter");
  await expect(waiting(page)).toHaveText([/\[left\].*Steering/, /\[later\].*Queued/]);
  await mode(page, "Queue").check();
  await messageBox(page).fill("[right] then");
  await messageBox(page).press("Control+Enter");
  await expect(waiting(page)).toHaveText([/\[left\].*Steering/, /\[right\].*Steering/, /\[later\].*Queued/]);
  await page.reload();
  await expect(waiting(page)).toHaveText([/\[left\].*Steering/, /\[right\].*Steering/, /\[later\].*Queued/]);

  released.resolve();
  await expect(page.getByText("Now the later thing.")).toBeVisible();
  const requests = page.getByRole("article", { name: "Request" });
  const texts = [/begin/, /\[left\].*Steered the turn/, /\[right\].*Steered the turn/, /\[later\].*Request/];
  await expect(requests).toHaveText(texts);
  await expect(waiting(page)).toHaveCount(0);
  await page.reload();
  await expect(requests).toHaveText(texts);
  await expect(page.getByText("I turn right, too.")).toHaveCount(1);
});

test("an interrupting message ends the turn and starts before the queued messages", async ({
  page,
  stage: { model, service },
}) => {
  script(model, {
    "[endless]": [{ text: "This goes on for ever.", hold: new Promise(() => {}) }],
    "[urgent]": [{ text: "The urgent thing is done." }],
    "[patient]": [{ text: "The patient thing is done." }],
  });
  const session = await service.create("[endless] begin");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("This goes on for ever.")).toBeVisible();
  await messageBox(page).fill("[patient] later");
  await messageBox(page).press("Enter");
  await expect(waiting(page)).toHaveCount(1);
  await mode(page, "Interrupt").check();
  await messageBox(page).fill("[urgent] now");
  await messageBox(page).press("Enter");
  await expect(page.getByText("The patient thing is done.")).toBeVisible();
  await expect(page.getByRole("article", { name: "Request" })).toHaveText([
    /begin/,
    /\[urgent\]/,
    /\[patient\]/,
  ]);
  await expect(
    page.getByRole("region", { name: "Conversation" }).getByText("Interrupted by a message"),
  ).toHaveCount(1);
});

test("the choice is shown only during a turn, does not move the layout, and is reset after an interrupt", async ({
  page,
  stage: { model, service },
}) => {
  const released = Promise.withResolvers<void>();
  script(model, {
    "[hello]": [{ text: "Hello." }],
    "[work]": [{ text: "At work.", hold: released.promise }],
    "[again]": [{ text: "At work again.", hold: new Promise(() => {}) }],
  });
  const session = await service.create("[hello]");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("Hello.")).toBeVisible();
  await expect(page.getByRole("banner").getByText("Done")).toBeVisible();
  await expect(page.getByRole("radio")).toHaveCount(0);
  const box = () => messageBox(page).boundingBox();
  const before = await box();
  await messageBox(page).fill("[work] please");
  await messageBox(page).press("Enter");
  await expect(page.getByText("At work.")).toBeVisible();
  await expect(mode(page, "Queue")).toBeChecked();
  expect(await box()).toEqual(before);
  await mode(page, "Interrupt").check();
  await messageBox(page).fill("[again] instead");
  await messageBox(page).press("Enter");
  await expect(page.getByText("At work again.")).toBeVisible();
  await expect(mode(page, "Queue")).toBeChecked();
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.getByRole("radio")).toHaveCount(0);
  expect(await box()).toEqual(before);
});

test("a failed stop shows an error, by key and by button, until the next message", async ({
  page,
  cleanConsole,
  stage: { model, service },
}) => {
  cleanConsole.allow(/Failed to load resource/);
  script(model, { "[busy]": [{ text: "Still at it.", hold: new Promise(() => {}) }] });
  const session = await service.create("[busy] begin");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("Still at it.")).toBeVisible();
  await page.route("**/actions/cancel", (route) => route.abort());
  const alert = page.getByRole("region", { name: "Message" }).getByRole("alert");
  const pressTwice = async () => {
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
  };
  for (const stop of [pressTwice, () => page.getByRole("button", { name: "Stop" }).click()]) {
    await stop();
    await expect(alert).toHaveText(/^The turn was not stopped\. /);
    await messageBox(page).fill("[busy] more");
    await messageBox(page).press("Enter");
    await expect(alert).toHaveCount(0);
    // Waits until the message box is empty again. In a box that contains text, Esc moves the focus out of the box and
    // does not stop the agent.
    await expect(messageBox(page)).toHaveValue("");
  }
  await page.unroute("**/actions/cancel");
  await pressTwice();
  await expect(
    page.getByRole("region", { name: "Conversation" }).getByText("You stopped the turn"),
  ).toBeVisible();
});

test("a crashed browser can be restarted from the page, and a failed restart shows an error", async ({
  page,
  cleanConsole,
  stage: { model },
}) => {
  cleanConsole.allow(/Failed to load resource|WebSocket connection/);
  // Starts a separate service, because the test kills the browsers of all sessions of the service.
  const service = await startService({ OPENAI_BASE_URL: model.baseUrl });
  try {
    script(model, { "[gone]": [{ text: "Ready." }] });
    const session = await service.create("[gone]");
    await service.completed(session.statusUrl);
    await page.goto(service.baseUrl + session.shareUrl);
    await expect(page.getByText("Ready.")).toBeVisible();
    const open = page.getByRole("button", { name: "Open live page" });
    await open.click();
    await expect(page.getByRole("img", { name: "Live view of the page" })).toBeVisible();
    killBrowsers(service.pid ?? 0);
    await expect(open).toBeVisible();
    await page.route("**/actions/browser", (route) => route.abort());
    await open.click();
    await expect(page.getByText(/^The browser did not start: /)).toBeVisible();
    await page.unroute("**/actions/browser");
    await open.click();
    await expect(open).toHaveCount(0);
  } finally {
    await service.close();
  }
});

/** Kills the Chromium processes of a service. */
function killBrowsers(servicePid: number): void {
  for (const { pid, name } of listDescendants(servicePid)) {
    if (!/^chrom|headless/i.test(name)) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process ended when another process was killed.
    }
  }
}
