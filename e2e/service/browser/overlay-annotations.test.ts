import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { OVERLAY_BINDING, OVERLAY_WORLD } from "#lib/browser/overlay/install-overlay.ts";
import { findTestChromium, startTestSite } from "#lib/browser/testing.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";

let site: Awaited<ReturnType<typeof startTestSite>>;
let service: TestService;
let sessionId: string;

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
  await waitUntil(
    async () => (await browser.readCursor(sessionId, 1230, 772)) === "pointer",
    "the overlay is in the page",
  );
});
after(async () => {
  await service.close();
  await site.close();
});

/**
 * Submits annotations from the isolated world in which the overlay's script runs. Waits until the content of the page
 * matches `shows`.
 */
async function submit(body: unknown, shows: RegExp): Promise<void> {
  const live = await service.container.services.browser.ensure(sessionId);
  const cdp = await live.context.newCDPSession(live.page());
  const { frameTree } = await cdp.send("Page.getFrameTree");
  const { executionContextId: contextId } = await cdp.send("Page.createIsolatedWorld", {
    frameId: frameTree.frame.id,
    worldName: OVERLAY_WORLD,
  });
  const report = JSON.stringify({ kind: "submit", body: JSON.stringify(body) });
  const expression = `globalThis.${OVERLAY_BINDING}(${JSON.stringify(report)})`;
  await cdp.send("Runtime.evaluate", { contextId, expression });
  await waitUntil(async () => {
    const { root } = await cdp.send("DOM.getDocument", { depth: -1, pierce: true });
    return shows.test(JSON.stringify(root));
  }, `the overlay shows ${shows}`);
  await cdp.detach();
}
const annotationOf = (comment: string) => ({
  event: "submit",
  url: site.origin,
  annotations: [{ type: "element", selector: "h1", comment }],
});
const count = async () =>
  (await service.read<{ data: unknown[] }>(`/api/sessions/${sessionId}/annotations`)).data.length;

test("the overlay's submissions are validated, capped, recorded and rate limited like the webhook's", async () => {
  await submit(annotationOf("Larger"), /Sent\. Thank you/);
  assert.equal(await count(), 1);
  await submit({ event: "submit" }, /Not sent: annotations: is required/);
  await submit(annotationOf("x".repeat(300_000)), /Not sent: body: must be at most 256 KiB/);
  await submit(annotationOf("Smaller"), /Sent\. Thank you/);
  const webhook = `/api/sessions/${sessionId}/annotations/webhook`;
  const counted = async () => (await service.call("POST", webhook, annotationOf("By request"))).status;
  // Uses up the rate limit, which the webhook and the overlay share.
  while ((await counted()) !== 429);
  await submit(annotationOf("Too much"), /Not sent: too many requests; try again in \d+ s/);
  assert.ok((await count()) >= 2);
});
