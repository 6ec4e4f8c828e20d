import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startTestPostgres, type TestPostgres } from "#db/postgres-testing.ts";
import { createDatabase } from "#db/testing.ts";
import { findTestChromium } from "#lib/browser/testing.ts";
import { runOnPage } from "../page-testing.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { actOnPage, openSite, storeVariant } from "./variants-testing.ts";

// Simulates two processes with two services that share one Postgres. The first service has the browser.

let postgres: TestPostgres;
let first: TestService;
let second: TestService;
let site: Awaited<ReturnType<typeof openSite>>;
before(async () => {
  const { executablePath: BROWSER_EXECUTABLE_PATH } = findTestChromium();
  site = await openSite((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end('<!doctype html><title>Shop</title><button id="pay">Pay</button>');
  });
  postgres = await startTestPostgres();
  const variables = {
    BROWSER_EXECUTABLE_PATH,
    SANDBOX: "unconfined",
    DATABASE_URL: await createDatabase(postgres.url, "variants"),
    DATABASE_DRIVER: "pg",
    ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
  };
  first = await openTestService(variables);
  second = await openTestService(variables);
  // Both models are scripted, because either service may play the turn.
  for (const { model } of [first, second]) model.respondWith(() => ({ text: "Done." }));
});
after(async () => {
  await first.close();
  await second.close();
  await postgres.stop();
  site.close();
});

describe("a variant in the live browser of another process", () => {
  it("changes when a person edits it, and disappears when it is switched off", async () => {
    const session = await first.create("Look at the page.", { targetUrl: site.url });
    await first.completed(session.statusUrl);
    await storeVariant(first, session.sessionId, `${site.url}/`);
    const read = () => runOnPage(first, session.sessionId, "return page.textContent('#pay')");
    const shows = (text: string) => waitUntil(async () => (await read()) === text, `the page shows ${text}`);
    await shows("Pay now");
    const edits = [{ action: "setText", changeId: "c1", text: "Buy" }];
    const edited = await actOnPage(second, session, "/variants/main/revisions", { baseRevision: 1, edits });
    assert.equal(edited.status, 201);
    await shows("Buy");
    assert.equal((await actOnPage(second, session, "/shown-variant", { variant: null })).status, 200);
    await shows("Pay");
  });
});
