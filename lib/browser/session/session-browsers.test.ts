import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionBrowser } from "./session-browser.ts";
import { createSessionBrowsers } from "./session-browsers.ts";

test("a browser at rest is dropped, and created again at its next use", async () => {
  const resting = new Set<string>();
  const make = async (sessionId: string) =>
    ({ isEvictable: () => resting.has(sessionId) }) as unknown as SessionBrowser;
  const browsers = createSessionBrowsers(make);
  const [one, other] = [await browsers.get("ses_1"), await browsers.get("ses_2")];
  browsers.dropResting(0);
  assert.equal(browsers.list().length, 2);
  resting.add("ses_1");
  browsers.dropResting(0);
  assert.deepEqual(browsers.list(), [["ses_2", other]]);
  assert.equal(browsers.peek("ses_1"), undefined);
  assert.notEqual(await browsers.get("ses_1"), one);
});
