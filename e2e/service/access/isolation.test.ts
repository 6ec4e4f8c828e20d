import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { deliveries, pagePictures } from "#db/schema/index.ts";
import { contract } from "#lib/api/contract/contract.ts";
import type { Operation } from "#lib/api/contract/operation.ts";
import { keepRecordedPicture, listRecordedPictures } from "#lib/browser/store/recording-store.ts";
import { listItems, openItem } from "#lib/session/store/inbox-store.ts";
import { storeReport } from "../reports/reports-testing.ts";
import { storeTestRun } from "../test-runs/store-test-run.ts";
import { OTHER_KEY, openTestService, type TestService } from "../testing.ts";
import { storeVariant } from "../variants/variants-testing.ts";

// The tests are generated from the contract, so they cover new operations too.

let service: TestService;
/**
 * Path parameters that name objects of one session, which belongs to the owner of the test's key. Only `elicitationId`
 * names no object.
 */
let mine: Record<string, string>;
let cookieOfAnother: string;
/** Well-formed path parameters for which no object exists. */
const UNKNOWN_IDS: Record<string, string> = {
  sessionId: "ses_aaaaaaaaaaaaaaaaaaaaaaaa",
  requestId: "req_aaaaaaaaaaaaaaaaaaaaaaaa",
  artifactId: "evi_aaaaaaaaaaaaaaaaaaaaaaaa",
  pictureId: "pic_aaaaaaaaaaaaaaaaaaaaaaaa",
  elicitationId: "eli_aaaaaaaaaaaaaaaaaaaaaaaa",
  deliveryId: "whd-00000000-0000-4000-8000-000000000000",
  linkId: "lnk_aaaaaaaaaaaaaaaaaaaaaaaa",
};

before(async () => {
  service = await openTestService();
  const { container } = service;
  service.model.respondWith(() => ({ text: "Done." }));
  const callback = { url: "http://127.0.0.1:9/hook", secret: "s" };
  const { sessionId, requestId, runId, statusUrl } = await service.create("mine", { callback });
  await service.completed(statusUrl);
  const page = {
    kind: "html" as const,
    title: "t",
    url: null,
    mediaType: "text/html",
    bytes: Buffer.from("<p>"),
  };
  const { id: artifactId } = await container.services.evidence.save({ ...page, sessionId, runId });
  const picture = { sessionId, mediaType: "image/jpeg", bytes: Buffer.from("jpeg") };
  await container.services.db.insert(pagePictures).values(picture);
  const recorded = { sessionId, runId, callId: null, url: "https://shop.example/", title: "t", key: "first" };
  await keepRecordedPicture(container.services.db, { ...recorded, bytes: Buffer.from("jpeg") }, 1_000);
  const [kept] = await listRecordedPictures(container.services.db, sessionId);
  const [delivery] = await container.services.db.select({ id: deliveries.id }).from(deliveries);
  const elicitationId = UNKNOWN_IDS.elicitationId ?? "";
  const link = await service.call("POST", `/api/sessions/${sessionId}/share-links`, { role: "drive" });
  const { record } = (await link.json()) as { record: { id: string } };
  const deliveryId = delivery?.id ?? "";
  await storeVariant(service, sessionId);
  const variant = {
    pages: [{ url: "https://shop.example/", match: "path", changes: [], css: "h1 { color: red }", js: "" }],
  };
  const imported = await service.call("POST", `/api/sessions/${sessionId}/import`, variant);
  const { import: created } = (await imported.json()) as { import: { id: string } };
  mine = {
    sessionId,
    requestId,
    artifactId,
    pictureId: kept?.id ?? "",
    deliveryId,
    elicitationId,
    linkId: record.id,
    variantKey: "main",
    revision: "1",
    reportId: await storeReport(service, sessionId),
    importId: created.id,
    testRunId: await storeTestRun(service, sessionId),
    filePath: "notes.md",
    itemId: await storeItem(sessionId),
  };
  await service.call("PUT", `/api/sessions/${sessionId}/files/notes.md`, "# Notes");
  const another = await service.create("another of the same owner");
  cookieOfAnother = `share=${new URL(another.shareUrl, service.env.baseUrl).searchParams.get("key")}`;
});
after(() => service.close());

/** Stores an item of the inbox. @returns its id. */
async function storeItem(sessionId: string): Promise<string> {
  const { db } = service.container.services;
  await db.transaction((tx) =>
    openItem(tx, {
      sessionId,
      runId: null,
      kind: "plan",
      subjectId: sessionId,
      title: "Agree",
      body: "Agree",
    }),
  );
  const [item] = await listItems(db, { ownerId: "owner", sessionId }, { limit: 1 });
  return item?.id ?? "";
}

const all = Object.entries(contract).map(([name, operation]) => ({
  name,
  operation: operation as Operation,
}));
const ofSession = all.filter(({ operation }) => operation.path.includes(":sessionId"));
const takesKey = ({ auth }: Operation) => auth.kind === "key" || (auth.kind === "share" && auth.orKey);

const pathOf = ({ path }: Operation, ids: Record<string, string>) =>
  path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? `none-${name}`);

const ask = (operation: Operation, ids: Record<string, string>, headers: Record<string, string>) =>
  service.call(operation.method, pathOf(operation, ids), undefined, { authorization: "", ...headers });

const unknown = { success: false, error: "no such session", code: "not_found" };

describe("a session of another owner", () => {
  it("gets the same answer from every operation as a session that does not exist", async () => {
    const headers = { authorization: `Bearer ${OTHER_KEY}` };
    const keyed = ofSession.filter(({ operation }) => takesKey(operation));
    assert.ok(keyed.length >= 18, `${keyed.length} operations`);
    for (const { name, operation } of keyed) {
      const [theirs, none] = [
        await ask(operation, mine, headers),
        await ask(operation, UNKNOWN_IDS, headers),
      ];
      assert.deepEqual([theirs.status, await theirs.json()], [404, unknown], name);
      assert.deepEqual([none.status, await none.json()], [404, unknown], name);
      const listHeaders = (response: Response) =>
        [...response.headers].filter(([header]) => !/^ratelimit/.test(header));
      assert.deepEqual(listHeaders(theirs), listHeaders(none), name);
    }
    assert.deepEqual((await service.read<{ data: unknown[] }>("/api/sessions")).data.length, 2);
    const { data } = await (await service.call("GET", "/api/sessions", undefined, headers)).json();
    assert.deepEqual(data, []);
  });

  it("can be read by its own owner with every read operation", async () => {
    const headers = { authorization: "Bearer key-of-the-service-tests" };
    for (const { name, operation } of ofSession) {
      if (!takesKey(operation) || operation.method !== "GET") continue;
      const response = await ask(operation, mine, headers);
      assert.equal(response.status, 200, name);
      await response.body?.cancel();
    }
  });

  it("is 404 for the cookie of another session, and for an API key at operations of the session page", async () => {
    const visits = ofSession.filter(({ operation }) => operation.auth.kind === "share");
    assert.ok(visits.length >= 12, `${visits.length} operations`);
    for (const { name, operation } of visits) {
      const origin = service.env.baseUrl;
      const stranger = await ask(operation, mine, { cookie: cookieOfAnother, origin });
      assert.deepEqual([stranger.status, await stranger.json()], [404, unknown], name);
      if (takesKey(operation)) continue;
      const program = await ask(operation, mine, {
        authorization: "Bearer key-of-the-service-tests",
        origin,
      });
      assert.deepEqual([program.status, await program.json()], [404, unknown], name);
    }
  });
});

describe("without a valid credential", () => {
  it("every operation that requires an API key is 401, before any other check", async () => {
    const keyed = all.filter(({ operation }) => takesKey(operation));
    for (const { name, operation } of keyed)
      for (const headers of [{}, { authorization: "Bearer nonsense" }, { "x-service-api-key": "ask_a_b" }]) {
        const response = await ask(operation, mine, headers as Record<string, string>);
        const body = await response.json();
        assert.deepEqual([response.status, body.success, body.code], [401, false, "unauthorized"], name);
        assert.match(body.error, /Authorization: Bearer <API_KEY> or X-Service-Api-Key: <API_KEY>/, name);
      }
  });

  it("every operation of the operator or of a signed-in person is 401, and 403 for another site", async () => {
    const operators = all.filter(({ operation }) => ["login", "person"].includes(operation.auth.kind));
    assert.ok(operators.length >= 5);
    for (const { name, operation } of operators) {
      const own = await ask(operation, mine, { origin: service.env.baseUrl });
      assert.equal(own.status, 401, name);
      const evil = await ask(operation, mine, { origin: "https://evil.example" });
      assert.equal(evil.status, 403, name);
    }
  });
});
