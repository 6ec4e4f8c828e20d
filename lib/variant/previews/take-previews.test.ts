import assert from "node:assert/strict";
import { test } from "node:test";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { VariantToolServices } from "../variants-deps.ts";
import { takePreviews } from "./take-previews.ts";

test("the error of a preview is one line of at most 500 characters, and what was not copied is told", async () => {
  const live = {
    page: () => ({ url: () => "about:blank" }),
    context: {
      async storageState(options?: object) {
        if (options) throw new Error("the database is locked");
        return { cookies: [], origins: [] };
      },
    },
    async openContext() {
      throw new Error(`${"x".repeat(50_000)}\nsecond line`);
    },
  } as unknown as LiveBrowser;
  const services = { log: { transact: async () => {} } } as unknown as VariantToolServices;
  const { rows, notes } = await takePreviews(
    services,
    live,
    {
      sessionId: "ses_a",
      rootSessionId: "ses_a",
      requestId: null,
      runId: null,
      signal: new AbortController().signal,
    },
    [
      {
        title: "Home",
        url: "https://a.example/",
        viewport: null,
        width: 800,
        height: 600,
        variant: null,
        scrollTo: null,
        caption: null,
      },
    ],
  );
  const [preview] = rows;
  assert.equal(preview?.error?.length, 500);
  assert.match(preview?.error ?? "", /^x+…$/);
  assert.deepEqual(notes, ["The IndexedDB of the session was not copied: the database is locked."]);
});
