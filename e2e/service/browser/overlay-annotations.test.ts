import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { submitFromOverlay } from "#lib/api/serve/submit-from-overlay.ts";
import { createPerson, PILL, SUBMIT, takeControl } from "#lib/browser/overlay/overlay-testing.ts";
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
  await browser.navigate(sessionId, site.origin);
  person = createPerson(await takeControl(browser, sessionId), sessionId);
  await waitUntil(
    async () => (await browser.readCursor(sessionId, PILL.x, PILL.y)) === "pointer",
    "the overlay is in the page",
  );
});
after(async () => {
  await service.close();
  await site.close();
});

/** Submits the comments in the overlay. */
async function submit(): Promise<void> {
  const { browser } = service.container.services;
  await waitUntil(
    async () => (await browser.readCursor(sessionId, SUBMIT.x, SUBMIT.y)) === "pointer",
    "the submit button",
  );
  await person.click(SUBMIT);
}
/** Submits as the overlay does. @returns what the overlay shows to the person. */
const submitText = (body: string, key: string = crypto.randomUUID()) =>
  submitFromOverlay(service.container.services, sessionId, body, key);
const HEADING = { x: 20, y: 40 };
const count = async () =>
  (await service.read<{ data: unknown[] }>(`/api/sessions/${sessionId}/annotations`)).data.length;

test("the overlay's submissions are validated, capped, recorded and rate limited like the webhook's", async () => {
  await person.addComment(HEADING, "Larger");
  await submit();
  await waitUntil(async () => (await count()) === 1, "the comment is stored");
  const large = JSON.stringify({ event: "submit", annotations: [{ comment: "x".repeat(300_000) }] });
  assert.deepEqual(await submitText(large), { isStored: false, reason: "body: must be at most 256 KiB" });
  await service.container.services.browser.navigate(sessionId, `${site.origin}/again`);
  await person.addComment(HEADING, "Smaller");
  await submit();
  await waitUntil(async () => (await count()) === 2, "the comment on the second page is stored");
  const webhook = `/api/sessions/${sessionId}/annotations/webhook`;
  const body = {
    event: "submit",
    url: site.origin,
    annotations: [{ selector: "h1", comment: "By request" }],
  };
  const text = JSON.stringify(body);
  const key = crypto.randomUUID();
  assert.deepEqual(await submitText(text, key), { isStored: true });
  // Uses up the rate limit, which the webhook and the overlay share.
  while ((await service.call("POST", webhook, body)).status !== 429);
  const refused = await submitText(text);
  assert.ok(!refused.isStored);
  assert.match(refused.reason, /^too many requests; try again in \d+ s$/);
  const before = await count();
  assert.ok(before >= 3);
  assert.deepEqual(await submitText(text, key), { isStored: true }, "a repeat of what was stored");
  assert.equal(await count(), before);
});
