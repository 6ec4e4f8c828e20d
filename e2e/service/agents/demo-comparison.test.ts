import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { findTestChromium } from "#lib/browser/testing.ts";
import { openTestService, type TestService } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";

const PAGES: Record<string, string> = {
  "/shop": `<title>Shop</title><h1>Things</h1><h2>Products</h2>
    <ul><li><h3>Brass Pen</h3><p class="price">£34.00</p></li><li><h3>Ink</h3><p class="price">£11.00</p></li></ul>
    <a href="/cart">Cart</a> <a href="/about">About</a>`,
  "/cart": `<title>Cart</title><h1>Your cart</h1><a href="/shop">Shop</a>
    <form><label for="code">Voucher</label><input id="code"><button>Apply</button></form>
    <form aria-label="Delivery"><label for="town">Town</label><input id="town"></form>`,
};
const site = createServer((request, response) => {
  const page = PAGES[request.url ?? ""];
  response.statusCode = page === undefined ? 404 : 200;
  response.setHeader("content-type", "text/html; charset=utf-8");
  response.end(`<!doctype html><html lang="en">${page ?? "<h1>Not found</h1>"}</html>`);
});
let service: TestService;
let origin = "";

before(async () => {
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const { executablePath: BROWSER_EXECUTABLE_PATH } = findTestChromium();
  // Without OPENAI_API_KEY and OPENAI_BASE_URL the service uses the built-in demo model.
  service = await openTestService({
    OPENAI_BASE_URL: "",
    AGENT_MODEL: "",
    BROWSER_EXECUTABLE_PATH,
    SANDBOX: "unconfined",
    BROWSER_MAX_LIVE: "2",
  });
});
after(async () => {
  await service.close();
  site.close();
});

type Agent = Record<"name" | "status" | "browser", string> & {
  submitted: boolean;
  result: unknown;
  progress?: string;
};

/** Plays the first turn of a new session. @returns the session's sub-agents and events, and the agent's last text. */
async function play(task: string, more: Record<string, unknown> = {}) {
  const targetUrl = `${origin}/shop`;
  const session = await service.create(task, { targetUrl, subAgents: true, ...more });
  await service.completed(session.statusUrl);
  const { agents } = await service.read<{ agents: Agent[] }>(`/api/sessions/${session.sessionId}/agents`);
  const events = await readEvents(service, session.sessionId);
  const last = only(events, "message.completed").at(-1)?.message.parts.at(-1);
  assert.equal(last?.type, "text");
  return { agents, events, answer: last?.type === "text" ? last.text : "" };
}

describe("the demo model in a session that may delegate", () => {
  it("compares two pages in a table: a sub-agent for each page reads it in its own browser", async () => {
    const { agents, events, answer } = await play("compare /shop with /cart");
    assert.deepEqual(
      agents.map(({ name, status, browser, submitted }) => ({ name, status, browser, submitted })),
      ["shop", "cart"].map((name) => ({ name, status: "succeeded", browser: "own", submitted: true })),
    );
    assert.deepEqual(agents[0]?.result, {
      url: `${origin}/shop`,
      title: "Shop",
      headingCount: 4,
      headings: ["Things", "Products", "Brass Pen", "Ink"],
      linkCount: 2,
      formCount: 0,
      fieldCount: 0,
      productCount: 2,
      products: [
        { name: "Brass Pen", price: "£34.00" },
        { name: "Ink", price: "£11.00" },
      ],
      isPartial: false,
    });
    assert.match(
      agents[1]?.progress ?? "",
      /^Read Cart \(headings: 1, links: 1, form fields: 2, prices: 0\)\.$/,
    );
    assert.equal(only(events, "agent.progress").length, 2);
    assert.match(answer, /^\| Fact \| \/shop \| \/cart \|/);
    assert.match(answer, /\| Title \| Shop \| Cart \|/);
    assert.match(answer, /\| Headings \| 4: Things, Products, Brass Pen, Ink \| 1: Your cart \|/);
    assert.match(answer, /\| Links \| 2 \| 1 \|/);
    assert.match(answer, /\| Forms \| 0 \| 2 \|/);
    assert.match(answer, /\| Form fields \| 0 \| 2 \|/);
    assert.match(answer, /\| Prices \| 2: Brass Pen £34\.00, Ink £11\.00 \| 0 \|/);
  });

  it("names a sub-agent that could not read its page", async () => {
    const { agents, answer } = await play(`compare /shop with http://127.0.0.1:1/gone`);
    assert.deepEqual(
      agents.map(({ name, submitted }) => [name, submitted]),
      [
        ["shop", true],
        ["gone", false],
      ],
    );
    assert.match(answer, /\| Links \| 2 \|/);
    assert.match(
      answer,
      /Sub-agent `gone` has no result for http:\/\/127\.0\.0\.1:1\/gone: I could not open the page\. The browser said: Error: page\.goto: [^\n]*127\.0\.0\.1:1 could not be/,
    );
  });

  it("reports the sentence with which a spawn was refused", async () => {
    const { agents, answer } = await play("compare /shop with /cart", {
      delegation: { maxLiveChildren: 1 },
    });
    assert.equal(agents.length, 0);
    assert.match(answer, /2 more children would exceed maxLiveChildren=1 \(0 live\)/);
  });

  it("reads only one page without permission to delegate, and says so", async () => {
    const { agents, answer } = await play("compare /shop with /cart", { subAgents: false });
    assert.equal(agents.length, 0);
    assert.match(answer, /^This session may not delegate to sub-agents, so this is about one page only/);
    assert.match(answer, /\*\*Shop\*\* at /);
  });
});
