import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { findTestChromium, startTestSite } from "#lib/browser/testing.ts";
import { openTestService, type TestService } from "../testing.ts";
import { openAnnotated } from "./annotations-testing.ts";

let site: Awaited<ReturnType<typeof startTestSite>>;
let service: TestService;
let html = "";
before(async () => {
  site = await startTestSite((_, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(html);
  });
  service = await openTestService({ BROWSER_EXECUTABLE_PATH: findTestChromium().executablePath });
  service.model.respondWith(() => ({ text: "Done." }));
});
after(async () => {
  await service.close();
  await site.close();
});

const WITH = "<title>Shop</title><button id=pay>Pay</button>";
const WITHOUT = "<title>Shop</title><p>Sold out</p>";

test("an annotation is lost while its page lacks the element, is not sent then, and opens when the element is back", async () => {
  const { api, sessionId, annotate, list, statusOf } = await openAnnotated(service);
  const { browser } = service.container.services;
  const show = async (content: string, path = "/") => {
    html = content;
    await browser.navigate(sessionId, `${site.origin}${path}`);
  };
  const send = async (ids: string[]) => {
    const response = await service.call("POST", `${api}/agent/messages`, { text: "x", annotations: ids });
    const body = (await response.json()) as { error?: string; statusUrl?: string };
    if (body.statusUrl !== undefined) await service.completed(body.statusUrl);
    return [response.status, body.error];
  };
  const locate = async () =>
    (
      (await (await service.call("POST", `${api}/annotations/locate`)).json()) as {
        data: { id: string; elements: { state: string; by?: string }[] }[];
      }
    ).data.map(({ id, elements }) => [id, elements.map(({ state, by }) => by ?? state)]);

  assert.deepEqual(await locate(), [], "no browser runs");
  await show(WITH);
  const id = await annotate("Larger", {}, `${site.origin}/#top`);
  const elsewhere = await annotate("Elsewhere", { selector: "#none" }, `${site.origin}/other`);
  const unanchored = await annotate("No element", { selector: "", text: "" }, site.origin);
  assert.deepEqual(await locate(), [[id, ["selector"]]]);

  await show(WITHOUT);
  assert.deepEqual(await send([id]), [400, "annotations[0]: has no element on its page any more"]);
  assert.deepEqual(
    [await statusOf(id), await statusOf(elsewhere), await statusOf(unanchored)],
    ["lost", "open", "open"],
  );
  await service.call("PATCH", `${api}/annotations/${id}`, { status: "open" });
  assert.deepEqual(await locate(), [[id, ["gone"]]]);
  assert.equal(await statusOf(id), "lost");

  await show(WITH.replace("id=pay", "id=buy"));
  assert.deepEqual(await locate(), [[id, ["text"]]]);
  assert.equal(await statusOf(id), "open");

  await show(WITHOUT);
  await locate();
  await show(WITH);
  assert.equal((await send([id]))[0], 202, "a message looks for a lost annotation, too");
  await show(WITHOUT);
  assert.deepEqual(await locate(), []);
  assert.equal((await list("?status=sent")).length, 1, "a sent annotation does not change");
});
