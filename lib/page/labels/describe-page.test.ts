import assert from "node:assert/strict";
import { test } from "node:test";
import type { LandingPage } from "../state/view-types.ts";
import { describeFiles, describePage } from "./describe-page.ts";
import { describeTool } from "./describe-tool.ts";

const page = (version: number | null): LandingPage => ({
  slug: "sale",
  url: "https://service.example/p/sale/",
  version,
  newestVersion: 3,
  files: 2,
  bytes: 10,
  note: null,
  updatedAt: "2026-11-20T12:31:59.889Z",
});

test("the published version of a page is named", () => {
  assert.deepEqual(describePage(page(3)), { tone: "good", title: "Version 3 published" });
  assert.deepEqual(describePage(page(1)), { tone: "attention", title: "Version 1 published" });
  assert.deepEqual(describePage(page(null)), { tone: "quiet", title: "Unpublished" });
});

test("files are counted, and their size has a readable unit", () => {
  assert.equal(describeFiles({ files: 1, bytes: 980 }), "1 file, 980 bytes");
  assert.equal(describeFiles({ files: 4, bytes: 18_240 }), "4 files, 17.8 KiB");
  assert.equal(describeFiles({ files: 500, bytes: 20_971_520 }), "500 files, 20.0 MiB");
});

test("a deploy is described with its version once the result names it", () => {
  const words = describeTool("deploy_landing_page", { folder: "site" });
  assert.deepEqual(
    [words.running, words.done, words.object],
    ["Deploying the landing page", "Deployed the landing page", "site"],
  );
  const result = "Deployed version 2 of sale-3b510ca7ee: 2 files, 150 bytes.\nhttps://…";
  assert.equal(
    describeTool("deploy_landing_page", { folder: "site" }, result).done,
    "Deployed version 2 of sale-3b510ca7ee",
  );
  const equal = "Version 2 of sale has exactly these files already (2 files), so no new version was made.";
  assert.equal(describeTool("deploy_landing_page", {}, equal).done, "Deployed the landing page");
});
