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

test("an annotation is lost while its page lacks the element, and opens when the element is back", async () => {
  const { api, sessionId, annotate, list, statusOf } = await openAnnotated(service);
  const { browser } = service.container.services;
  const show = async (content: string, path = "/") => {
    html = content;
    await browser.navigate(sessionId, `${site.origin}${path}`);
  };
  const send = async (ids: string[]) => {
    const response = await service.call("POST", `${api}/agent/messages`, { text: "x", annotations: ids });
    assert.equal(response.status, 202, await response.clone().text());
    await service.completed(((await response.json()) as { statusUrl: string }).statusUrl);
    const request = service.model.requests.findLast(({ kind }) => kind === "turn");
    return JSON.stringify(request?.body.input);
  };
  const notFound =
    /Annotation ann_[a-z0-9]+, made on [^ ]+\\nNo element of it was found on the page when the service last looked\.\\n1\. comment: /;
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
  assert.deepEqual(await locate(), [[id, ["gone"]]]);
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
  assert.doesNotMatch(await send([id]), notFound, "a message looks for a lost annotation, too");
  await show(WITHOUT);
  assert.deepEqual(await locate(), [[id, ["gone"]]], "a sent annotation is looked for");
  assert.equal((await list("?status=sent")).length, 1, "a sent annotation does not change");

  // A person can ask for an element that the agent has removed.
  await service.call("PATCH", `${api}/annotations/${id}`, { status: "open" });
  assert.match(await send([id]), notFound);
  assert.equal(await statusOf(id), "sent");
});
