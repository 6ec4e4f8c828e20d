import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import sharp from "sharp";
import { findTestChromium, startTestSite } from "#lib/browser/testing.ts";
import { openTestService, type TestService } from "../testing.ts";
import { openAnnotated } from "./annotations-testing.ts";

let site: Awaited<ReturnType<typeof startTestSite>>;
let service: TestService;
before(async () => {
  site = await startTestSite((_, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<title>Shop</title><style>body{margin:0;height:3000px;background:white}
      button{position:absolute;left:300px;width:120px;height:60px;border:0;color:red;background:red}</style>
      <button id=pay style="top:200px">Pay</button><button id=below style="top:2000px">Below</button>`);
  });
  service = await openTestService({ BROWSER_EXECUTABLE_PATH: findTestChromium().executablePath });
  service.model.respondWith(() => ({ text: "Done." }));
});
after(async () => {
  await service.close();
  await site.close();
});

type Part = { type: string; text?: string; image_url?: string };
type Sent = { parts: { type: string; annotationId: string; evidenceId?: string }[] };

test("a message shows the model what is in view at its annotations, marked as data of the page", async () => {
  const { api, sessionId, annotate, list } = await openAnnotated(service);
  await service.container.services.browser.navigate(sessionId, `${site.origin}/`);
  const url = `${site.origin}/`;
  const whole = await annotate("Larger", {}, url);
  const area = { x: 310, y: 210, width: 20, height: 20 };
  const boundingBox = { x: 300, y: 200, width: 120, height: 60 };
  const marked = await annotate("This corner", { type: "area", area, boundingBox }, url);
  const below = await annotate("Not in view", { selector: "#below", element: "button", text: "Below" }, url);
  const elsewhere = await annotate("Of another page", {}, `${site.origin}/other`);
  const ids = [whole, marked, below, elsewhere];

  const located = await service.call("POST", `${api}/annotations/locate`);
  const { data } = (await located.json()) as { data: { id: string; elements: { box: object }[] }[] };
  assert.deepEqual(data.find(({ id }) => id === marked)?.elements[0]?.box, area, "the box of what is marked");

  const response = await service.call("POST", `${api}/agent/messages`, { text: "Fix it", annotations: ids });
  assert.equal(response.status, 202, await response.clone().text());
  await service.completed(((await response.json()) as { statusUrl: string }).statusUrl);
  const messages = await service.read<{ data: Sent[] }>(`${api}/messages`);
  const parts = messages.data.flatMap((message) => message.parts.filter(({ type }) => type === "annotation"));
  assert.deepEqual(
    parts.map(({ annotationId, evidenceId }) => [annotationId, evidenceId !== undefined]),
    [
      [whole, true],
      [marked, true],
      [below, false],
      [elsewhere, false],
    ],
  );
  // The element and 40 px around it.
  const picture = await service.call("GET", `${api}/artifacts/${parts[0]?.evidenceId}`);
  assert.equal(picture.headers.get("content-type"), "image/jpeg");
  const image = sharp(Buffer.from(await picture.arrayBuffer()));
  const { width, height } = await image.metadata();
  assert.deepEqual([width, height], [200, 140]);
  const { data: pixels, info } = await image.raw().toBuffer({ resolveWithObject: true });
  const colorAt = (x: number, y: number) => [
    ...pixels.subarray((y * info.width + x) * info.channels, (y * info.width + x) * info.channels + 3),
  ];
  const [red = 0, green = 255] = colorAt(100, 70);
  assert.ok(red > 200 && green < 60, "the button is in the middle");
  assert.ok((colorAt(10, 10)[1] ?? 0) > 200, "and the page is around it");

  const request = service.model.requests.findLast(({ kind }) => kind === "turn");
  const input = (request?.body.input ?? []) as { role?: string; content?: Part[] }[];
  const sent = input.findLast(({ role }) => role === "user")?.content ?? [];
  assert.deepEqual(
    sent.map(({ type }) => type),
    ["input_text", "input_image", "input_image"],
  );
  assert.match(
    sent[0]?.text ?? "",
    new RegExp(
      `\\[The last 2 pictures below: the page at ${whole}, ${marked}, in this order, .* data of the page`,
    ),
  );
  assert.equal((await list("?status=sent")).length, 4);
});

test("a message that is refused leaves no picture behind", async () => {
  const { api, sessionId, annotate } = await openAnnotated(service);
  await service.container.services.browser.navigate(sessionId, `${site.origin}/`);
  const id = await annotate("Larger", {}, `${site.origin}/`);
  const post = (annotations: string[]) =>
    service.call("POST", `${api}/agent/messages`, { text: "Fix it", annotations });
  assert.equal((await post([id, "ann_none"])).status, 400);
  const evidence = await service.container.services.evidence.list(sessionId);
  assert.deepEqual(evidence, []);
});
