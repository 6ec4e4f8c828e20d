import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createPerson, PILL, SUBMIT } from "#lib/browser/overlay/overlay-testing.ts";
import { findTestChromium, startTestSite } from "#lib/browser/testing.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";

let site: Awaited<ReturnType<typeof startTestSite>>;
let service: TestService;
let sessionId: string;
let person: ReturnType<typeof createPerson>;

before(async () => {
  site = await startTestSite((_, response) => {
    response.writeHead(200, { "content-type": "text/html", "content-security-policy": "default-src 'none'" });
    response.end("<title>Shop</title><h1>Shop</h1>");
  });
  service = await openTestService({
    RATE_LIMIT_ANNOTATE: "4",
    BROWSER_EXECUTABLE_PATH: findTestChromium().executablePath,
  });
  service.model.respondWith(() => ({ text: "Done." }));
  ({ sessionId } = await service.create("Look", { targetUrl: site.origin }));
  const { browser } = service.container.services;
  await browser.ensure(sessionId);
  person = createPerson(browser, sessionId);
  await waitUntil(
    async () => (await browser.readCursor(sessionId, PILL.x, PILL.y)) === "pointer",
    "the overlay is in the page",
  );
});
after(async () => {
  await service.close();
  await site.close();
});

/** Submits the comments in the overlay. Waits until the content of the page matches `shows`. */
async function submit(shows: RegExp): Promise<void> {
  const live = await service.container.services.browser.ensure(sessionId);
  const cdp = await live.context.newCDPSession(live.page());
  const { browser } = service.container.services;
  await waitUntil(
    async () => (await browser.readCursor(sessionId, SUBMIT.x, SUBMIT.y)) === "pointer",
    "the submit button",
  );
  await person.click(SUBMIT);
  await waitUntil(async () => {
    const { root } = await cdp.send("DOM.getDocument", { depth: -1, pierce: true });
    return shows.test(JSON.stringify(root));
  }, `the overlay shows ${shows}`);
  await cdp.detach();
}
const HEADING = { x: 20, y: 40 };
const count = async () =>
  (await service.read<{ data: unknown[] }>(`/api/sessions/${sessionId}/annotations`)).data.length;

test("the overlay's submissions are validated, capped, recorded and rate limited like the webhook's", async () => {
  await person.addComment(HEADING, "Larger");
  await submit(/Sent\. Thank you/);
  assert.equal(await count(), 1);
  for (let number = 0; number < 14; number += 1) {
    await person.click(PILL);
    await person.click(HEADING);
    await person.paste("x".repeat(20_000));
    await person.press("Enter");
  }
  await submit(/Not sent: body: must be at most 256 KiB/);
  assert.equal(await count(), 1);
  await service.container.services.browser.navigate(sessionId, `${site.origin}/again`);
  await person.addComment(HEADING, "Smaller");
  await submit(/Sent\. Thank you/);
  const webhook = `/api/sessions/${sessionId}/annotations/webhook`;
  const body = {
    event: "submit",
    url: site.origin,
    annotations: [{ selector: "h1", comment: "By request" }],
  };
  // Uses up the rate limit, which the webhook and the overlay share.
  while ((await service.call("POST", webhook, body)).status !== 429);
  await person.addComment(HEADING, "Too much");
  await submit(/Not sent: too many requests; try again in \d+ s/);
  assert.ok((await count()) >= 2);
});
