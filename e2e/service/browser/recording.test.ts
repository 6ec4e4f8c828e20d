import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { after, before, test } from "node:test";
import { findTestChromium } from "#lib/browser/testing.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { openVariantsService, playFollowUp, playTurn, script } from "../variants/variants-testing.ts";

type Picture = { id: string; runId: string | null; callId: string | null; url: string; title: string };

const showShop: RequestListener = (_, response) => {
  response
    .writeHead(200, { "content-type": "text/html" })
    .end("<!doctype html><title>Shop</title><h1>Shop</h1>");
};
let opened: Awaited<ReturnType<typeof openVariantsService>>;
let service: TestService;
let site: Awaited<ReturnType<typeof openVariantsService>>["site"];

before(async () => {
  opened = await openVariantsService(showShop);
  ({ service, site } = opened);
});
after(() => opened?.close());

const paint = (colour: string) =>
  script(
    `await page.evaluate((colour) => { document.body.style.background = colour; document.title = colour; }, "${colour}");`,
  );

const listPictures = async (sessionId: string): Promise<Picture[]> =>
  (await service.read<{ data: Picture[] }>(`/api/sessions/${sessionId}/recording`)).data;

async function whenTitled(sessionId: string, titles: string[]): Promise<Picture[]> {
  let pictures: Picture[] = [];
  await waitUntil(
    async () => {
      pictures = await listPictures(sessionId);
      return pictures.map(({ title }) => title).join() === titles.join();
    },
    `pictures of ${titles.join(", ")}`,
  );
  return pictures;
}

test("the recording has a picture of the page after each call that changed how it looks", async () => {
  const { session } = await playTurn(service, [paint("red"), script("return 1;"), paint("blue")], {
    targetUrl: site.url,
  });
  const { sessionId } = session;
  const pictures = await whenTitled(sessionId, ["Shop", "red", "blue"]);
  const [first, red, blue] = pictures;
  assert.partialDeepStrictEqual(first, { runId: null, callId: null });
  assert.ok(red?.callId && blue?.callId && red.callId !== blue.callId);
  assert.ok(red.runId?.startsWith("run_"));

  const path = `/api/sessions/${sessionId}/recording/${red.id}`;
  const response = await service.call("GET", path);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "image/jpeg");
  const bytes = new Uint8Array(await response.arrayBuffer());
  assert.deepEqual([...bytes.slice(0, 2)], [0xff, 0xd8]);
  const etag = response.headers.get("etag") ?? assert.fail();
  const again = await service.call("GET", path, undefined, { "if-none-match": etag });
  assert.equal(again.status, 304);

  const exported = await service.call("GET", `/api/sessions/${sessionId}/export?format=html`);
  const html = await exported.text();
  const figures = [
    ...html.matchAll(/<img src="data:image\/jpeg;base64,[^"]+" alt="The page after this call">/g),
  ];
  assert.equal(figures.length, 2);
  assert.match(html, /<figcaption>red, http/);

  await playFollowUp(service, sessionId, [paint("green")]);
  await whenTitled(sessionId, ["Shop", "red", "blue", "green"]);
});

test("readers of the session see its recording, others do not", async () => {
  const { session } = await playTurn(service, [paint("black")], { targetUrl: site.url });
  const { sessionId, shareUrl } = session;
  const [picture] = await whenTitled(sessionId, ["Shop", "black"]);
  const stranger = { authorization: "" };
  const visitor = {
    authorization: "",
    cookie: `share=${new URL(shareUrl, service.env.baseUrl).searchParams.get("key")}`,
  };
  const own = `/api/sessions/${sessionId}/recording`;
  const other = await service.create("another");
  for (const [path, headers, status] of [
    [own, visitor, 200],
    [`${own}/${picture?.id}`, visitor, 200],
    [own, stranger, 401],
    [`${own}/${picture?.id}`, stranger, 401],
    [`/api/sessions/${other.sessionId}/recording/${picture?.id}`, {}, 404],
    [`${own}/pic_unknown`, {}, 404],
    ["/api/sessions/ses_unknown/recording", {}, 404],
  ] as const)
    assert.equal((await service.call("GET", path, undefined, headers)).status, status, path);

  assert.equal((await service.call("DELETE", `/api/sessions/${sessionId}`)).status, 200);
  assert.equal((await service.call("GET", own)).status, 404);
});

test("with RECORDING_MAX_MB=0 there are no pictures", async () => {
  const { executablePath } = findTestChromium();
  const quiet = await openTestService({
    BROWSER_EXECUTABLE_PATH: executablePath,
    SANDBOX: "unconfined",
    RECORDING_MAX_MB: "0",
  });
  try {
    const { session } = await playTurn(quiet, [paint("red")], { targetUrl: site.url });
    // The last picture of the page is stored later than those of a recording.
    await waitUntil(
      async () => (await quiet.call("GET", `/api/sessions/${session.sessionId}/live/picture`)).status === 200,
      "the last picture",
    );
    const { data } = await quiet.read<{ data: Picture[] }>(`/api/sessions/${session.sessionId}/recording`);
    assert.deepEqual(data, []);
  } finally {
    await quiet.close();
  }
});
