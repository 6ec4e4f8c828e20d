import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openTestService, type TestService } from "../testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService();
});
after(() => service.close());

/** Opens a session. @returns a function that reads its desired URL, and a function that types into its address bar. */
async function openAddressBar() {
  const { sessionId, statusUrl, shareUrl } = await service.create("work");
  await service.completed(statusUrl);
  const token = new URL(shareUrl, service.env.baseUrl).searchParams.get("key");
  const headers = { authorization: "", cookie: `share=${token}`, origin: service.env.baseUrl };
  const readDesiredUrl = async () =>
    (await service.read<{ desiredUrl: string | null }>(`/api/sessions/${sessionId}/browser`)).desiredUrl;
  return {
    readDesiredUrl,
    type: (url: string) => service.call("POST", `/s/${sessionId}/actions/browser`, { url }, headers),
  };
}

test("the address bar refuses search words with a sentence, and the browser keeps its page", async () => {
  const bar = await openAddressBar();
  for (const typed of ["search words", "shoes", "https://search words"]) {
    const response = await bar.type(typed);
    assert.equal(response.status, 400);
    const { error, code } = await response.json();
    assert.equal(code, "invalid_request");
    assert.ok(error.startsWith(`url: "${typed}" is not an address.`), error);
  }
  assert.equal(await bar.readDesiredUrl(), null);
});

test("the address bar opens URLs, and adds a scheme to a host without one", async () => {
  const bar = await openAddressBar();
  for (const [typed, url] of [
    ["shop.invalid/cart", "https://shop.invalid/cart"],
    ["127.0.0.1:9/x", "http://127.0.0.1:9/x"],
    ["HTTP://shop.invalid/a b", "HTTP://shop.invalid/a b"],
  ] as const) {
    const response = await bar.type(typed);
    assert.equal(response.status, 202, await response.text());
    assert.equal(await bar.readDesiredUrl(), url);
  }
});
