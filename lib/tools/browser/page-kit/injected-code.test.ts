import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Browser, type CDPSession, chromium, type Page } from "playwright";
import { findTestChromium, startTestSite } from "#lib/browser/testing.ts";
import { installSource, loadBundle } from "#lib/injected/bundle.ts";
import { callInjected, InjectedError } from "#lib/injected/call-injected.ts";
import { openWorld, sessionOf } from "./tool-world.ts";

const POLICY =
  "default-src 'none'; script-src 'nonce-page'; require-trusted-types-for 'script'; trusted-types 'none'";
/** A page whose policy allows no other scripts, with built-ins that its own script has replaced. */
const STRICT = `<!doctype html><title>Strict</title>
  <a id="${loadBundle("tools").key}"></a><a id="injected"></a><form><input name="children"></form>
  <script nonce="page">
    const fail = () => { throw new Error("replaced"); };
    for (const [owner, names] of [[Object, ["defineProperty", "keys", "hasOwn"]], [Symbol, ["for"]], [Reflect, ["apply", "get"]],
      [JSON, ["stringify"]], [Array.prototype, ["map", "push"]], [Element.prototype, ["matches", "getAttribute"]]])
      for (const name of names) owner[name] = fail;
    Map = Set = WeakMap = Promise = undefined;
  </script>`;

let browser: Browser;
let site: Awaited<ReturnType<typeof startTestSite>>;
let page: Page;
let session: CDPSession;
/** The parameters of the commands that were sent to the page. */
let sent: string[] = [];

before(async () => {
  site = await startTestSite((_, response) => {
    response.writeHead(200, { "content-type": "text/html", "content-security-policy": POLICY });
    response.end(STRICT);
  });
  const { executablePath, args = [], env = {} } = findTestChromium();
  browser = await chromium.launch({
    executablePath,
    args: [...args, "--no-sandbox"],
    env: { ...process.env, ...env },
  });
  page = await browser.newPage();
  session = await sessionOf(page.context(), page);
});
after(async () => {
  await browser.close();
  await site.close();
});

/** Opens the page again, and returns its isolated world with a session that records what is sent. */
async function openStrict() {
  await page.goto(site.origin);
  const { frameTree } = await session.send("Page.getFrameTree");
  const contextId = await openWorld(session, frameTree.frame.id);
  sent = [];
  const send = (method: never, params: never) => {
    sent.push(JSON.stringify(params));
    return session.send(method, params);
  };
  return { session: { send: send as CDPSession["send"] }, contextId };
}

const refs = { prefix: "", next: 1 };
const countBundles = () => sent.filter((text) => text.length > 10_000).length;

test("a world gets its bundle once, also from a page with a strict policy and replaced built-ins", async () => {
  const world = await openStrict();
  assert.equal(await callInjected(world, "tools", "readTitle", [100]), "Strict");
  assert.equal(countBundles(), 1);
  const options = { linesMax: 10, attributes: [] };
  for (let n = 0; n < 3; n += 1) {
    const walked = await callInjected(world, "tools", "callWithKit", [refs, "walkPage", options]);
    assert.match(JSON.stringify(walked.value), /textbox/);
  }
  assert.equal(countBundles(), 1);
  assert.ok(Math.max(...sent.slice(-3).map((text) => text.length)) < 500, sent.at(-1));

  const next = await openStrict();
  const titles = await Promise.all(
    [6, 3].map((charsMax) => callInjected(next, "tools", "readTitle", [charsMax])),
  );
  assert.deepEqual(titles, ["Strict", "Str"]);
  // Calls at the same time may both send the bundle; the world keeps the first.
  const counted = await callInjected(next, "tools", "callWithKit", [refs, "findControls", AREA]);
  await session.send("Runtime.evaluate", { expression: installSource("tools"), contextId: next.contextId });
  const again = await callInjected(next, "tools", "callWithKit", [refs, "findControls", AREA]);
  assert.deepEqual(again, counted);
});

const AREA = { area: { x: 0, y: 0, width: 1_000, height: 1_000 }, max: 10 };

test("the page's own world has nothing of a bundle", async () => {
  const world = await openStrict();
  await callInjected(world, "tools", "readTitle", [1]);
  const read = "[typeof injected, Object.getOwnPropertySymbols(window).length]";
  const { result } = await session.send("Runtime.evaluate", { expression: read, returnByValue: true });
  // The variable `injected` is the element with this id.
  assert.deepEqual(result.value, ["object", 0]);
});

test("a function that throws fails with the message of its error, and its bundle is not sent again", async () => {
  const world = await openStrict();
  const search = (query: string) => {
    const argument = { query, isRegex: true, limit: 1 };
    return callInjected(world, "tools", "callWithKit", [refs, "searchText", argument], 200);
  };
  await assert.rejects(
    search("("),
    (error) => error instanceof InjectedError && /^SyntaxError/.test(error.message),
  );
  assert.equal(countBundles(), 1);
});
