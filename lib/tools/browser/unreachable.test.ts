import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
} from "#lib/browser/testing.ts";
import { createSnapshotBook } from "./read/snapshot-book.ts";
import { browserExecute } from "./script/browser-execute.ts";
import { createScriptRunner, type ScriptRunner } from "./script/script-runner.ts";
import { workspaceFiles } from "./script/workspace-files.ts";
import { callOf, createTestControl, createTestSandbox, textOf } from "./test-fixture.ts";

let site: Awaited<ReturnType<typeof startTestSite>>;
let testBrowsers: TestBrowsers;
let scripts: ScriptRunner;
let sessionId: string;
let closedPort: number;

before(async () => {
  site = await startTestSite((request, response) => {
    if (request.url === "/file")
      return response.writeHead(200, { "content-disposition": "attachment" }).end("bytes");
    if (request.url === "/empty") return response.writeHead(204).end();
    if (request.url === "/loop") return response.writeHead(302, { location: "/loop" }).end();
    if (request.url === "/cut") return request.socket.destroy();
    if (request.url === "/away") return response.writeHead(302, { location: "http://10.1.2.3/" }).end();
    response.writeHead(200, { "content-type": "text/html" }).end("<title>Shop</title>");
  });
  const closedSite = await startTestSite(() => {});
  closedPort = closedSite.port;
  await closedSite.close();
  testBrowsers = await openTestBrowsers([`127.0.0.1:${site.port}`, `127.0.0.1:${closedPort}`]);
  scripts = await createScriptRunner({ logger: { warn: () => {} } });
  sessionId = await insertTestSession(testBrowsers.db);
  await testBrowsers.browsers.navigate(sessionId, `${site.origin}/`);
});
after(async () => {
  await scripts.close();
  await testBrowsers.close();
  await site.close();
});

const UNREACHABLE: [what: string, url: () => string, message: RegExp][] = [
  [
    "a server that is not there",
    () => `http://127.0.0.1:${closedPort}/`,
    /127\.0\.0\.1:\d+ refused the connection/,
  ],
  [
    "a server that is not there, over TLS",
    () => `https://127.0.0.1:${closedPort}/`,
    /127\.0\.0\.1:\d+ refused the connection/,
  ],
  ["a name that does not exist", () => "http://shop.invalid/", /shop\.invalid could not be resolved/],
  ["a private address", () => "http://10.1.2.3/", /10\.1\.2\.3 is a private address/],
  ["a redirect to a private address", () => `${site.origin}/away`, /10\.1\.2\.3 is a private address/],
  ["a connection that is cut", () => `${site.origin}/cut`, /closed the connection/],
  ["an answer without a page", () => `${site.origin}/empty`, /answered 204, which is no page/],
  ["a download", () => `${site.origin}/file`, /is a download, not a page|Download is starting/],
  ["endless redirects", () => `${site.origin}/loop`, /the address redirects without end/],
];

for (const [what, url, message] of UNREACHABLE)
  test(`a script that goes to ${what} gets a readable error, also when it catches the error`, async () => {
    const tool = browserExecute({
      browser: testBrowsers.browsers,
      control: createTestControl(),
      scripts,
      files: workspaceFiles(createTestSandbox()),
      scriptHelpers: () => ({}),
      snapshots: createSnapshotBook(),
    });
    const script = `
      const caught = await page.goto('${url()}').catch((error) => error.message);
      console.log(caught);
      await page.goto('${url()}');`;
    const text = textOf(await tool.execute({ script, timeoutMs: 60_000 }, callOf(undefined, sessionId)));
    const [error = "", caught = ""] = text.split("Console:");
    assert.match(error, message);
    assert.match(caught, message);
    assert.doesNotMatch(text, /ERR_ABORTED|frame was detached/);
  });
