import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createStoredRecords } from "#lib/browser/store/stored-records.ts";
import { insertTestSession, startTestSite } from "#lib/browser/testing.ts";
import { openTestHosts } from "./testing.ts";

test("sessions of one owner share a Chromium of a host, and the host does not learn who the owner is", async (t) => {
  const site = await startTestSite((request, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<title>${request.url}</title><h1>Page ${request.url}</h1>`);
  });
  const hosts = await openTestHosts(["127.0.0.1"]);
  t.after(async () => {
    await hosts.close();
    await site.close();
  });
  const service = await hosts.open({ contextsPerProcess: 2 });
  const [one = "", other = "", foreign = ""] = await Promise.all(
    ["ada@example.com", "ada@example.com", "bob@example.com"].map((ownerId) =>
      insertTestSession(hosts.db, { ownerId }),
    ),
  );
  for (const id of [one, other, foreign]) await service.service.navigate(id, `${site.origin}/${id}`);
  const chromiums = (await readdir(join(hosts.dataDir, "browsers"))).filter((name) => name.endsWith(".json"));
  assert.equal(chromiums.length, 2);

  // A script sees the page of its session only, and its neighbor's script goes on when the session ends.
  const script = "return (await Promise.all(context.pages().map((each) => each.title()))).join()";
  for (const id of [one, other, foreign])
    assert.match(await service.use(id, "browser_execute", { script }), new RegExp(`/${id}`));
  const pages = await service.use(one, "browser_execute", { script: "return context.pages().length" });
  assert.match(pages, /\b1\b/);

  const { db, log, sealer } = hosts;
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  const records = createStoredRecords({ db, log, sealer, logger, recordingBytesMax: 0 }, "bh_test");
  const [first, second, third] = await Promise.all(
    [one, other, foreign].map((id) => records.readSession(id)),
  );
  assert.match(first?.ownerKey ?? "", /^[\w-]{43}$/);
  assert.equal(second?.ownerKey, first?.ownerKey);
  assert.notEqual(third?.ownerKey, first?.ownerKey);
  assert.doesNotMatch(JSON.stringify([first, second, third]), /ada|bob|example/);
});
