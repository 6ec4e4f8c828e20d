import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sharp from "sharp";
import type { EvidenceStore, NewEvidence } from "#lib/evidence/evidence.ts";
import { createPictureComparer } from "#lib/tools/browser/compare/picture-comparer.ts";
import { createPageTools } from "#lib/tools/browser/create-page-tools.ts";
import {
  createTestHost,
  startSite,
  startTestBrowser,
  type TestBrowser,
} from "#lib/tools/browser/test-fixture.ts";
import type { McpTool } from "../mcp-tool.ts";
import { checkAccessibility } from "./check-accessibility.ts";
import { comparePictures } from "./compare-pictures.ts";
import { mcpCall, mcpTextOf } from "./testing.ts";

const PAGE = `<!doctype html><html lang="en"><head><title>Shop</title></head><body><main>
<h1>Shop</h1><img src="/x.png"><button></button><p style="color:#ccc;background:#fff">Hardly legible</p>
<section id="good"><h2>Fine</h2><p>All is well here.</p></section></main>
<div data-agent-session-overlay><img src="/overlay.png"></div>
<iframe title="Inner" srcdoc="<html lang='en'><title>Inner</title><main><h1>In</h1><input></main></html>"></iframe>
<script>Object.prototype.toJSON = undefined; window.axe = { run: () => ({ violations: [] }) };</script></body></html>`;

let browser: TestBrowser;
let site: Awaited<ReturnType<typeof startSite>>;

before(async () => {
  [browser, site] = await Promise.all([startTestBrowser(), startSite({ "/": PAGE })]);
  await browser.live.page().goto(site.url);
});
after(async () => {
  await Promise.all([browser.close(), site.close()]);
});

type Checked = {
  violations: {
    rule: string;
    frame: string;
    count: number;
    elements: { selector: string; problem: string }[];
  }[];
  framesChecked: number;
};

async function check(input: Record<string, unknown>): Promise<Checked> {
  const tool = checkAccessibility({ pages: createPageTools(createTestHost({ browser: browser.service })) });
  const result = await tool.execute(input, mcpCall().call);
  assert.notEqual(result.isError, true, mcpTextOf(result));
  assert.ok(tool.output?.safeParse(result.structuredContent).success);
  return result.structuredContent as Checked;
}

test("the check includes the page's frames, excludes our overlay, and the page's scripts cannot interfere", async () => {
  const { violations, framesChecked } = await check({});
  const found = violations.map(
    ({ rule, frame, count }) => `${rule} ${frame === "main" ? frame : "inner"} ${count}`,
  );
  assert.deepEqual(found.sort(), [
    "button-name main 1",
    "color-contrast main 1",
    "image-alt main 1",
    "label inner 1",
  ]);
  assert.equal(framesChecked, 2);
  assert.match(violations.find(({ rule }) => rule === "image-alt")?.elements[0]?.problem ?? "", /alt/);
});

test("a selector limits the check to a part of the page; an unmatched selector is an error that names it", async () => {
  const { violations } = await check({ selector: "#good" });
  assert.deepEqual(violations, []);
  await assert.rejects(check({ selector: "#missing" }), /No element matches #missing/);
});

test("the check leaves nothing on the page", async () => {
  await check({});
  const left = await browser.live.page().evaluate("Object.keys(axe)");
  assert.deepEqual(left, ["run"]);
});

/** Creates an evidence store in memory. */
function keepEvidence(pictures: Record<string, { mediaType: string; bytes: Uint8Array }>) {
  const saved: NewEvidence[] = [];
  const store: EvidenceStore = {
    async save(evidence) {
      saved.push(evidence);
      const { kind, title, url, mediaType } = evidence;
      return { id: "evi_diff", kind, title, url, mediaType };
    },
    list: async () => [],
    listNewest: async () => ({ total: 0, evidence: [] }),
    discard: async () => {},
    async read(_sessionId, id) {
      const stored = pictures[id];
      if (!stored) return undefined;
      const pointer = { id, kind: "screenshot" as const, title: id, url: null, mediaType: stored.mediaType };
      return { pointer, bytes: stored.bytes };
    },
  };
  return { store, saved };
}

const draw = (width: number, height: number, spot?: { left: number; top: number }) => {
  const canvas = sharp({ create: { width, height, channels: 3, background: "#fff" } });
  const black = { create: { width: 10, height: 10, channels: 3 as const, background: "#000" } };
  return spot ? canvas.composite([{ input: black, ...spot }]) : canvas;
};

async function compare(tool: McpTool, before: string, after: string) {
  const result = await tool.execute({ before, after }, mcpCall().call);
  if (!result.isError) assert.ok(tool.output?.safeParse(result.structuredContent).success);
  return result;
}

test("comparing two pictures yields the share, the box and a stored picture of the differences", async () => {
  const png = "image/png";
  const { store, saved } = keepEvidence({
    plain: { mediaType: png, bytes: await draw(100, 50).png().toBuffer() },
    spotted: { mediaType: png, bytes: await draw(100, 50, { left: 20, top: 30 }).png().toBuffer() },
    longer: { mediaType: "image/jpeg", bytes: await draw(100, 60).jpeg().toBuffer() },
    page: { mediaType: "text/html", bytes: Buffer.from("<p>") },
    broken: { mediaType: png, bytes: Buffer.from("no picture") },
  });
  const tool = comparePictures({ evidence: store, compare: createPictureComparer() });

  const same = await compare(tool, "plain", "plain");
  assert.deepEqual(same.structuredContent, {
    isEqual: true,
    share: 0,
    differingPixels: 0,
    totalPixels: 5_000,
    box: null,
    differenceId: null,
    before: { width: 100, height: 50 },
    after: { width: 100, height: 50 },
  });
  assert.equal(saved.length, 0);

  const spotted = await compare(tool, "plain", "spotted");
  const { share, box, differenceId } = { ...spotted.structuredContent };
  assert.deepEqual(
    { share, box, differenceId },
    { share: 0.02, box: { x: 20, y: 30, width: 10, height: 10 }, differenceId: "evi_diff" },
  );
  assert.equal(spotted.content.at(-1)?.type, "image");
  const picture = await sharp(saved[0]?.bytes).metadata();
  assert.deepEqual([picture.format, picture.width, picture.height], ["png", 100, 50]);

  const longer = await compare(tool, "plain", "longer");
  assert.equal(longer.structuredContent?.differingPixels, 1_000);
  assert.equal(longer.structuredContent?.totalPixels, 6_000);

  for (const [id, sentence] of [
    ["missing", /after: this session has no evidence missing/],
    ["page", /is no picture, but text\/html/],
    ["broken", /cannot be read as a picture/],
  ] as const) {
    const refused = await compare(tool, "plain", id);
    assert.equal(refused.isError, true);
    assert.match(mcpTextOf(refused), sentence);
  }
});
