import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import { createBrowserEgress } from "../process/browser-egress.ts";
import { createLocalProvider } from "../process/local-provider.ts";
import { PAGE_LIMITS } from "../process/page-limits.ts";
import { findTestChromium } from "../testing.ts";
import { openBrowser } from "./open-browser.ts";

const quiet = { info() {}, debug() {}, warn() {}, error() {} };

test("a start fails when its Chromium ends, although a question to the Chromium is never answered", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "open-browser-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const egress = createBrowserEgress(createAddressRule({ allow: [] }), undefined, quiet);
  const provider = createLocalProvider({
    launch: findTestChromium(),
    folder,
    egress,
    limits: PAGE_LIMITS,
    webdriver: true,
    logger: quiet,
  });
  const start = async () => {
    const chromium = await provider.start({ owner: undefined, sessions: 0 });
    return {
      ...chromium,
      // Playwright may not settle a call when the connection ends in the middle of it.
      newContext() {
        void chromium.kill();
        return new Promise<never>(() => {});
      },
    };
  };
  await assert.rejects(
    openBrowser(
      start,
      { ...egress, refuse: async () => undefined },
      { logger: quiet, navigationTimeoutMs: 5_000 },
    ),
    { message: "the browser ended while it started" },
  );
});
