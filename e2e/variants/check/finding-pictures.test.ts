import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sharp from "sharp";
import type { CheckReport, Finding } from "#lib/variant/check/check-report.ts";
import { type CheckBench, documentOf, html, openBench } from "./check-testing.ts";

let bench: CheckBench;
before(async () => {
  bench = await openBench();
});
after(() => bench.close());

/** Returns the average color and the size of the picture of a finding. */
async function readPicture({ picture }: Finding) {
  const saved = bench.evidence.saved.find(({ id }) => id === picture?.id);
  assert.ok(saved, "the picture is evidence");
  assert.deepEqual([saved.kind, saved.mediaType], ["screenshot", "image/jpeg"]);
  const image = sharp(saved.bytes);
  const { channels } = await image.stats();
  const { width, height } = await image.metadata();
  return { color: channels.slice(0, 3).map(({ mean }) => Math.round(mean / 51) * 51), width, height };
}

const findingOf = ({ findings }: CheckReport, changeId: string): Finding =>
  findings.find((finding) => finding.changeId === changeId) ?? assert.fail(`no finding about ${changeId}`);

/** Short, because the changes of these tests never apply. */
const LIMITS = { applyMs: 500, rerenderMs: 500 };

const fill = (color: string) => `padding: 40px; height: 60px; background: ${color}`;

test("a failure about a change has a picture of its element, at the moment at which it failed", async () => {
  const url = bench.serve(
    "/failures",
    html(
      `<main style="background: #fff"><h1>Shop</h1><div style="height: 2400px"></div>
      <div style="${fill("#f00")}"><p id="low">Low</p></div>
      <p id="again">Again</p><p id="fine">Fine</p></main>
      <script>
        new MutationObserver(() => {
          if (again.textContent !== "Again") return;
          again.replaceWith(Object.assign(document.createElement("section"), { id: "again", style: "${fill("#0f0")}" }));
        }).observe(document.querySelector("main"), { childList: true, subtree: true, characterData: true });
      </script>`,
      "<style>#low { color: #fff !important; background: #f00 }</style>",
    ),
  );
  const report = await bench.check(
    documentOf(url, [
      { id: "low", op: "setStyle", selector: "#low", style: { color: "#000" } },
      { id: "again", op: "setText", selector: "p#again", text: "Mine" },
      { id: "fine", op: "setText", selector: "#fine", text: "Better" },
      { id: "missing", op: "setText", selector: "#missing", text: "Nothing" },
    ]),
    { limits: LIMITS },
  );
  const low = await readPicture(findingOf(report, "low"));
  assert.deepEqual(low.color, [255, 0, 0]);
  assert.ok(low.height < 200, "only the part around the element");
  assert.equal(findingOf(report, "missing").picture, undefined, "no element, no picture");
  const again = findingOf(report, "again");
  assert.equal(again.code, "lost_at_render");
  const { color } = await readPicture(again);
  const [red = 0, green = 0, blue = 0] = color;
  assert.ok(green > red && green > blue, `what the page shows instead is green: ${color}`);
});

test("the number of pictures is limited, and so is the size of each", async () => {
  const many = Array.from({ length: 6 }, (_, index) => `<p id="p${index}">Text</p>`);
  const url = bench.serve(
    "/many",
    html(
      `<main><h1>Shop</h1><div id="huge" style="height: 5000px">Huge</div>${many.join("")}</main>`,
      "<style>p, #huge { color: #222 !important }</style>",
    ),
  );
  const ids = ["huge", ...many.map((_, index) => `p${index}`)];
  const before = bench.evidence.saved.length;
  const report = await bench.check(
    documentOf(
      url,
      ids.map((id) => ({ id, op: "setStyle", selector: `#${id}`, style: { color: "#004080" } })),
    ),
    { viewports: ["desktop", "tablet", "phone"], limits: LIMITS },
  );
  const clips = bench.evidence.saved.slice(before).filter(({ mediaType }) => mediaType === "image/jpeg");
  assert.equal(clips.length, 12);
  const huge = await readPicture(findingOf(report, "huge"));
  assert.ok(huge.width <= 1280 && huge.height === 800);
});
