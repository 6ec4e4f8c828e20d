import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, type Page } from "@playwright/test";
import { expectAccessible } from "./expect-accessible.ts";
import { goTo, liveView, script, test } from "./journey.ts";

const NEED = "Sign in to the shop with your own account";
const HTML = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Sign in</title><link rel="icon" href="data:,">
<style>body { margin: 0; font: 20px monospace } input { position: absolute; left: 20px; width: 300px; height: 60px }</style>
<input id="code" name="code" aria-label="Code" style="top: 40px"></html>`;

/** Starts a page with a field. */
async function startSignIn() {
  const server = createServer((_request, response) =>
    response.writeHead(200, { "content-type": "text/html" }).end(HTML),
  );
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sign-in`,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

const card = (page: Page) => page.getByRole("region", { name: NEED });

test("a person takes the browser over for what the agent cannot do, and the agent continues", async ({
  page,
  browser,
  stage: { model, service },
}) => {
  const site = await startSignIn();
  const handOver = {
    toolCalls: [{ name: "call_tool", arguments: { name: "request_handover", input: { need: NEED } } }],
  };
  script(model, { "[sign in]": [goTo(site.url), handOver, { text: "Signed in." }] });
  const session = await service.create("[sign in] to the shop", { interaction: { mode: "ask" } });
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(card(page)).toBeVisible();
  await expect(card(page)).toContainText("only the person who has control sees the page");
  await expectAccessible(page, "a handover");
  await page.setViewportSize({ width: 375, height: 800 });
  await expect(card(page).getByRole("button", { name: "Take control" })).toBeVisible();
  await expectAccessible(page, "a narrow handover");
  await page.setViewportSize({ width: 1280, height: 900 });

  const links = await service.call("POST", `/api/sessions/${session.sessionId}/share-links`, {
    role: "view",
  });
  const { shareUrl } = (await links.json()) as { shareUrl: string };
  const watching = await browser.newContext();
  const watcher = await watching.newPage();
  await watcher.goto(service.baseUrl + shareUrl);
  await expect(card(watcher)).toContainText("Waits for a person who may take control.");
  await expect(card(watcher).getByRole("button")).toHaveCount(0);

  await card(page).getByRole("button", { name: "Take control" }).click();
  const live = liveView(page);
  await expect(page.getByText("You have control", { exact: true })).toBeVisible();
  await expect(live.canvas).toBeVisible();
  await live.click(60, 70);
  await page.keyboard.type("code-5128");
  await card(page).getByLabel("Note to the agent").fill("The code was on my phone");
  await card(page).getByRole("button", { name: "Done" }).click();
  await expect(card(page)).toHaveCount(0);
  await expect(page.getByText("Signed in.", { exact: true })).toBeVisible();
  await expect(card(watcher)).toHaveCount(0);
  await watching.close();

  const told = JSON.stringify(model.requests.at(-1)?.body);
  expect(told).toContain("The code was on my phone");
  expect(told).not.toContain("5128");
  await site.close();
});
