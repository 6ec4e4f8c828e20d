import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import sharp from "sharp";
import type { Preview } from "#lib/events/event.ts";
import { setMode } from "../planning/planning-testing.ts";
import type { TestService } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { openVariantsService, playFollowUp, playTurn, script, step } from "./variants-testing.ts";

let opened: Awaited<ReturnType<typeof openVariantsService>>;
let service: TestService;
let site: { url: string };

before(async () => {
  opened = await openVariantsService((request, response) => {
    response.setHeader("content-type", "text/html");
    // The page is green for a signed-in visitor, and red for all other visitors.
    const isSignedIn = /\bname=ada\b/.test(request.headers.cookie ?? "");
    response.end(
      `<!doctype html><meta name="viewport" content="width=device-width"><style>body { margin: 0; background: ${isSignedIn ? "#0f0" : "#f00"} }</style>
       <div id="top" style="height: 3000px">Shop</div><div id="end" style="height: 2000px; background: #00f"></div>`,
    );
  });
  ({ service, site } = opened);
});
after(() => opened.close());

/** Reads the picture of a preview. @returns its size and the colour of the pixel in its middle. */
async function readPicture(sessionId: string, preview: Preview | undefined) {
  assert.ok(preview?.evidence, preview?.error ?? "no preview");
  const answer = await service.call("GET", `/api/sessions/${sessionId}/artifacts/${preview.evidence.id}`);
  const picture = sharp(Buffer.from(await answer.arrayBuffer()));
  const { width = 0, height = 0 } = await picture.metadata();
  const pixel = await picture
    .extract({ left: Math.floor(width / 2), top: Math.floor(height / 2), width: 1, height: 1 })
    .raw()
    .toBuffer();
  const [red = 0, green = 0, blue = 0] = pixel;
  const colour = red > 200 ? "red" : green > 200 ? "green" : blue > 200 ? "blue" : "another";
  return { width, height, colour };
}

const listPreviews = async (sessionId: string): Promise<Preview[]> =>
  (await service.read<{ data: Preview[] }>(`/api/sessions/${sessionId}/previews`)).data;

describe("previews", () => {
  it("are pictures of fresh loads with the live page's cookies, with a variant and without", async () => {
    const { session, results } = await playTurn(
      service,
      [
        script("await page.context().addCookies([{ name: 'name', value: 'ada', url: page.url() }])"),
        step("apply_variant", { baseRevision: 0, css: "body { background: #f00 !important }" }),
        step("set_previews", {
          previews: [
            { title: "Control", url: site.url, variant: null },
            { title: "Red", url: site.url, variant: "main", viewport: "phone", caption: "On the phone" },
            {
              title: "End",
              url: site.url,
              variant: "main",
              viewport: { width: 600, height: 400 },
              scrollTo: "#end",
            },
            { title: "Nowhere", url: site.url, variant: null, scrollTo: "#none" },
            { title: "Refused", url: "http://10.0.0.1/", variant: null },
          ],
        }),
      ],
      { targetUrl: site.url },
    );
    assert.match(results[2] ?? "", /^3 of 5 previews have their picture\./);
    assert.match(results[2] ?? "", /"Nowhere".*no picture: scrollTo: no element matches #none/);
    assert.match(results[2] ?? "", /"Refused".*no picture: .*private/);
    const previews = await listPreviews(session.sessionId);
    const [control, red, end, nowhere, refused] = previews;
    assert.deepEqual(await readPicture(session.sessionId, control), {
      width: 1280,
      height: 800,
      colour: "green",
    });
    assert.deepEqual(await readPicture(session.sessionId, red), { width: 390, height: 844, colour: "red" });
    assert.deepEqual(await readPicture(session.sessionId, end), { width: 600, height: 400, colour: "blue" });
    assert.deepEqual(
      [red?.variant, red?.revision, red?.caption, red?.viewport.name, end?.viewport.name, control?.revision],
      ["main", 1, "On the phone", "phone", null, null],
    );
    assert.equal(nowhere?.evidence, null);
    assert.match(refused?.error ?? "", /private/);
    const [updated] = only(await readEvents(service, session.sessionId), "preview.updated");
    assert.deepEqual(updated?.previews, previews);
  });

  it("can be retaken with the newest revision, are replaced as a set, and are refused for an unknown variant", async () => {
    const blue = "body, #top { background: #00f !important }";
    const { session, results } = await playTurn(
      service,
      [
        step("refresh_previews"),
        step("apply_variant", { baseRevision: 0, css: "body { background: #0f0 !important }" }),
        step("set_previews", { previews: [{ title: "Page", url: site.url, variant: "main" }] }),
        step("apply_variant", { baseRevision: 1, css: blue }),
        step("refresh_previews"),
        step("set_previews", { previews: [{ title: "Page", url: site.url, variant: "b" }] }),
        step("set_previews", { previews: [{ title: "Page", url: "file:///etc/passwd", variant: null }] }),
      ],
      { targetUrl: site.url },
    );
    assert.match(results[0] ?? "", /there are no previews; set them with set_previews/);
    assert.match(
      results[4] ?? "",
      /^1 of 1 previews has its picture\.\n[^\n]*\n<data-\w+>\n- "Page" .* variant main, revision 2: evidence evi_/,
    );
    assert.match(results[5] ?? "", /previews\[0\]\.variant: There is no variant b\. The session has main\./);
    assert.match(results[6] ?? "", /previews\[0\]\.url: must be an absolute http\(s\) URL/);
    const [page, ...others] = await listPreviews(session.sessionId);
    assert.deepEqual(others, []);
    assert.equal((await readPicture(session.sessionId, page)).colour, "blue");
  });

  it("stay as they are while a person wants to agree to a plan first", async () => {
    const { session } = await playTurn(
      service,
      [step("set_previews", { previews: [{ title: "Control", url: site.url, variant: null }] })],
      { targetUrl: site.url },
    );
    const before = await listPreviews(session.sessionId);
    assert.equal(before.length, 1);
    await setMode(service, session.sessionId, "plan_first");
    const refused = await playFollowUp(service, session.sessionId, [
      step("set_previews", { previews: [] }),
      step("refresh_previews"),
    ]);
    assert.match(refused[0] ?? "", /set_previews was not run: a person wants to agree to a plan/);
    assert.match(refused[1] ?? "", /refresh_previews was not run: a person wants to agree to a plan/);
    assert.deepEqual(await listPreviews(session.sessionId), before);
    await setMode(service, session.sessionId, "off");
    await playFollowUp(service, session.sessionId, [step("set_previews", { previews: [] })]);
    assert.deepEqual(await listPreviews(session.sessionId), []);
  });
});
