import assert from "node:assert/strict";
import { test } from "node:test";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { takePreviewPictures } from "./take-pictures.ts";

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
  const { pictures, notes } = await takePreviewPictures(
    { save: () => Promise.reject(new Error("not part of this test")) },
    live,
    [
      {
        title: "Home",
        url: "https://a.example/",
        width: 800,
        height: 600,
        isMobile: false,
        scrollTo: null,
        variant: null,
        document: null,
      },
    ],
    {
      sessionId: "ses_a",
      browserSessionId: "ses_a",
      rootSessionId: "ses_a",
      requestId: null,
      runId: null,
      callId: null,
      signal: new AbortController().signal,
    },
  );
  const [preview] = pictures;
  assert.ok(preview && "error" in preview);
  assert.equal(preview.error.length, 500);
  assert.match(preview.error, /^x+…$/);
  assert.deepEqual(notes, ["The IndexedDB of the session was not copied: the database is locked."]);
});
