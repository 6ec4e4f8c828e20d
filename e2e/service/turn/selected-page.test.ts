import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eq } from "drizzle-orm";
import { browsers } from "#db/schema/index.ts";
import type { RecordedRequest } from "#e2e/fixtures/scripted-model/types.ts";
import { openTestService, type TestService, UNUSED_BROWSER } from "../testing.ts";

let service: TestService;

before(async () => {
  // Without a browser, no turn has a current page, as after the browser was ended because it was not used.
  service = await openTestService(UNUSED_BROWSER);
});
after(() => service.close());

/** Returns the lines of the newest message about the state of the session that name pages. */
const pageLines = ({ text }: RecordedRequest) =>
  (text.split("At the start of this turn:").at(-1) ?? "")
    .split("\n")
    .filter((line) => /^(Current|Target|Further) page: /.test(line));

test("a retarget selects the page for the next turn's prompt, and the former target is a further page", async () => {
  const requests: RecordedRequest[] = [];
  service.model.respondWith((request) => {
    requests.push(request);
    return { text: "Done." };
  });
  const [first, second, third] = [
    "https://shop.invalid/a",
    "https://shop.invalid/b",
    "https://shop.invalid/c",
  ];
  const { sessionId, statusUrl } = await service.create("look", {
    targetUrl: first,
    targetPageUrls: [second],
  });
  await service.completed(statusUrl);
  for (const url of [third, second, first]) {
    assert.equal((await service.call("POST", `/api/sessions/${sessionId}/browser`, { url })).status, 202);
    const path = `/api/sessions/${sessionId}/agent/messages`;
    const followUp = await (await service.call("POST", path, { text: "look again" })).json();
    await service.completed(followUp.statusUrl);
  }
  assert.deepEqual(requests.map(pageLines), [
    [`Target page: ${first}`, `Further page: ${second}`],
    [`Target page: ${third}`, `Further page: ${second}`, `Further page: ${first}`],
    [`Target page: ${second}`, `Further page: ${third}`, `Further page: ${first}`],
    [`Target page: ${first}`, `Further page: ${third}`, `Further page: ${second}`],
  ]);
});

test("without a targetUrl, the first target page is the selected one", async () => {
  const requests: RecordedRequest[] = [];
  service.model.respondWith((request) => {
    requests.push(request);
    return { text: "Done." };
  });
  const targetPageUrls = ["https://shop.invalid/a", "https://shop.invalid/b"];
  const { statusUrl } = await service.create("look", { targetPageUrls });
  await service.completed(statusUrl);
  assert.deepEqual(requests.map(pageLines), [
    ["Target page: https://shop.invalid/a", "Further page: https://shop.invalid/b"],
  ]);
});

test("while the browser is on its way to the selected page, the page of before is not the current one", async () => {
  const requests: RecordedRequest[] = [];
  service.model.respondWith((request) => {
    requests.push(request);
    return { text: "Done." };
  });
  const [shown, selected] = ["https://shop.invalid/shown", "https://shop.invalid/selected"];
  const { sessionId, statusUrl } = await service.create("look", { targetUrl: shown });
  await service.completed(statusUrl);
  const { db } = service.container.services;
  /** Stores what a browser stores, and plays a turn. */
  const playWith = async (fields: Partial<typeof browsers.$inferInsert>) => {
    await db.update(browsers).set(fields).where(eq(browsers.sessionId, sessionId));
    const path = `/api/sessions/${sessionId}/agent/messages`;
    const followUp = await (await service.call("POST", path, { text: "look again" })).json();
    await service.completed(followUp.statusUrl);
  };
  await playWith({ currentUrl: shown, pageWant: "reached" });
  await playWith({ currentUrl: shown, desiredUrl: selected, pageWant: "selected" });
  await playWith({ currentUrl: shown, pageWant: "refused" });
  const before = [`Target page: ${selected}`, `Further page: ${shown}`];
  assert.deepEqual(requests.map(pageLines), [
    [`Target page: ${shown}`],
    [`Current page: ${shown}`, `Target page: ${shown}`],
    before,
    [`Current page: ${shown}`, ...before],
  ]);
});
