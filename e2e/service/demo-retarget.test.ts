import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { findTestChromium, startTestSite } from "#lib/browser/testing.ts";
import { openTestService, type TestService, userMessage, waitUntil } from "./testing.ts";

let service: TestService;
let site: Awaited<ReturnType<typeof startTestSite>>;
before(async () => {
  site = await startTestSite((request, response) => {
    const name = request.url === "/new" ? "New" : "Old";
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<title>${name} shop</title><h1>${name} heading</h1><input aria-label="${name} field">`);
  });
  service = await openTestService({
    AGENT_MODEL: "demo",
    BROWSER_EXECUTABLE_PATH: findTestChromium().executablePath,
    NETWORK_ALLOW: `127.0.0.1:${site.port}`,
  });
});
after(async () => {
  await service.close();
  await site.close();
});

const outputSchema = {
  type: "object",
  properties: {
    title: { type: "string" },
    url: { type: "string" },
    headings: { type: "array", items: { type: "string" } },
    summary: { type: "string" },
  },
  required: ["title", "url", "headings", "summary"],
};

/** Retargets the browser, and waits until it has reached the page. */
async function retarget(sessionId: string, path: string): Promise<void> {
  const url = site.origin + path;
  const answer = await service.call("POST", `/api/sessions/${sessionId}/browser`, { url });
  assert.equal(answer.status, 202);
  const readStatus = () => service.read<{ lastNavigatedUrl: string }>(`/api/sessions/${sessionId}/browser`);
  await waitUntil(async () => (await readStatus()).lastNavigatedUrl === url, `${path} is reached`);
}

/** Sends a follow-up. @returns everything that the turn adds to the transcript, as JSON. */
async function ask(sessionId: string, text: string): Promise<string> {
  const answer = await service.call("POST", `/api/sessions/${sessionId}/agent/messages`, { text });
  await service.completed((await answer.json()).statusUrl);
  const { data } = await service.read<{ data: { role: string }[] }>(`/api/sessions/${sessionId}/messages`);
  return JSON.stringify(data.slice(data.findLastIndex(({ role }) => role === "user") + 1));
}

describe("after a retarget, the demo model speaks of the new page", () => {
  for (const text of ["What headings does the page have?", "hm"])
    it(`in a typed result: ${text}`, async () => {
      const targetUrl = `${site.origin}/old`;
      const session = await service.create("Name the headings of the page.", { targetUrl, outputSchema });
      await service.completed(session.statusUrl);
      await retarget(session.sessionId, "/new");
      const said = await ask(session.sessionId, text);
      assert.doesNotMatch(said, /Old|\/old/);
      assert.match(said, /\/new/);
    });

  it("if an earlier message of the caller names the page of before", async () => {
    const line = `Current page: ${site.origin}/old\nName its headings.`;
    const session = await service.create("", {
      messages: [userMessage(line)],
      targetUrl: `${site.origin}/old`,
      tools: { exclude: ["dom_query"] },
    });
    await service.completed(session.statusUrl);
    await retarget(session.sessionId, "/new");
    const said = await ask(session.sessionId, "What headings does the page have?");
    assert.doesNotMatch(said, /Old|\/old/);
    assert.match(said, /New heading/);
  });
});
