import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { gunzipSync } from "node:zlib";
import type { Publication, VariantSummary } from "#lib/events/event.ts";
import { createScriptServer } from "#lib/publication/script-server.ts";
import { recordCheck, storeRevision } from "#lib/variant/store-revision.ts";
import { OTHER_KEY, openTestService, type TestService, waitUntil } from "../testing.ts";
import { actOnPage, listVariants, storeVariant } from "./variants-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService();
});
after(() => service.close());

type Release = {
  id: string;
  number: number;
  revision: number;
  author: string;
  check: { status: string } | null;
  isUnchecked: boolean;
  isCurrent: boolean;
  isUnpublished: boolean;
  pinnedScriptUrl: string;
};

const main = (sessionId: string) => `/api/sessions/${sessionId}/variants/main`;
const publish = (sessionId: string, body: object = { unchecked: true }) =>
  service.call("POST", `${main(sessionId)}/publish`, body);

async function published(sessionId: string, body?: object): Promise<Publication> {
  const answer = await publish(sessionId, body);
  assert.equal(answer.status, 201);
  return ((await answer.json()) as { publication: Publication }).publication;
}

const listReleases = async (sessionId: string): Promise<Release[]> =>
  (await service.read<{ data: Release[] }>(`${main(sessionId)}/releases`)).data;

/** Creates a session whose variant `main` has revision 1. */
async function makeSession() {
  const session = await service.create("work");
  await service.completed(session.statusUrl);
  await storeVariant(service, session.sessionId);
  return session;
}

/** Stores the next revision of `main`, with one change that sets this text. */
async function revise(sessionId: string, baseRevision: number, text: string): Promise<void> {
  const change = { id: "c1", op: "setText" as const, selector: "#pay", text };
  const page = { url: "https://shop.example/", match: "path" as const, changes: [change], css: "", js: "" };
  const stored = await storeRevision(service.container.services.variants, {
    sessionId,
    variant: "main",
    baseRevision,
    author: "agent",
    document: { pages: [page] },
    requestId: null,
    runId: null,
    callId: null,
  });
  assert.ok(stored.ok);
}

/** Stores a check report with this status for a revision of `main`. */
async function storeCheckOf(sessionId: string, revision: number, status: "pass" | "warn" | "fail") {
  const report = { variant: "main", revision, status, at: new Date().toISOString(), durationMs: 1 };
  const about = { sessionId, requestId: null, runId: null };
  await recordCheck(service.container.services.variants, about, {
    ...report,
    findings: [],
    pages: [],
    notes: [],
  });
}

const load = (url: string, headers: Record<string, string> = {}) =>
  service.call("GET", new URL(url).pathname, undefined, { authorization: "", ...headers });

async function refusal(answer: Response): Promise<[number, string]> {
  return [answer.status, ((await answer.json()) as { error: string }).error];
}

describe("publishing a variant", () => {
  it("requires a passed check, or unchecked: true, which permanently marks the release", async () => {
    const { sessionId } = await makeSession();
    assert.deepEqual(await refusal(await publish(sessionId, {})), [
      409,
      "unchecked: revision 1 of variant main was not checked; check it on the session page or ask the agent to, or send unchecked: true",
    ]);
    await storeCheckOf(sessionId, 1, "fail");
    assert.deepEqual(await refusal(await publish(sessionId, {})), [
      409,
      "unchecked: revision 1 of variant main failed its check; correct it and check it again, or send unchecked: true",
    ]);
    assert.equal((await published(sessionId)).isUnchecked, true);
    await storeCheckOf(sessionId, 1, "pass");
    const second = await published(sessionId, {});
    assert.deepEqual([second.number, second.isUnchecked], [2, false]);
    await revise(sessionId, 1, "Buy");
    await storeCheckOf(sessionId, 2, "warn");
    assert.equal((await published(sessionId, {})).isUnchecked, false);
    const releases = await listReleases(sessionId);
    assert.deepEqual(
      releases.map(({ number, revision, check, isUnchecked }) => [
        number,
        revision,
        check?.status,
        isUnchecked,
      ]),
      [
        [3, 2, "warn", false],
        [2, 1, "pass", false],
        [1, 1, "fail", true],
      ],
    );
    const script = await (await load(releases[2]?.pinnedScriptUrl ?? "")).text();
    assert.match(
      script,
      /^\/\* Release 1 of pub_[a-z2-7]{24}: revision 1 of variant main, unchecked\. \*\/\n/,
    );
  });

  it("publishes only the newest revision, which the caller may name, and each revision once", async () => {
    const { sessionId } = await makeSession();
    await revise(sessionId, 1, "Buy");
    assert.deepEqual(await refusal(await publish(sessionId, { unchecked: true, revision: 1 })), [
      409,
      "revision: the newest revision is 2; only that can be published",
    ]);
    const stale = await publish(sessionId, { unchecked: true, revision: 9_007_199_254_740_991 });
    assert.equal(stale.status, 409);
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => publish(sessionId)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 200, 201]);
    assert.equal((await listReleases(sessionId)).length, 1);
    // Revision 1 is published, but a caller may name only the newest revision.
    assert.equal((await publish(sessionId, { revision: 1 })).status, 409);
    assert.equal((await publish(sessionId, { revision: 2 })).status, 200);
  });

  it("refuses invalid input with the field", async () => {
    const { sessionId } = await makeSession();
    for (const [body, sentence] of [
      [{ unchecked: "yes" }, /^unchecked: /],
      [{ revision: 0 }, /^revision: /],
      [{ force: true }, /force/],
      ["[1]", /./],
    ] as const) {
      const [status, error] = await refusal(await service.call("POST", `${main(sessionId)}/publish`, body));
      assert.equal(status, 400, error);
      assert.match(error, sentence);
    }
    const nowhere = await service.call("POST", `/api/sessions/${sessionId}/variants/b/publish`, {
      unchecked: true,
    });
    assert.deepEqual(await refusal(nowhere), [404, "no such variant"]);
    await published(sessionId);
    for (const release of [0, 7, 1.5, 2 ** 31, 2 ** 53, "1", "rel_x", null, {}, `rel_${"a".repeat(24)}`]) {
      const [status, error] = await refusal(
        await service.call("POST", `${main(sessionId)}/rollback`, { release }),
      );
      assert.equal(status, 400);
      assert.match(error, /^release: (must be the number or the id of a release|is not a release)/);
    }
  });

  it("appears in events, the list of variants and the agent status", async () => {
    const { sessionId } = await makeSession();
    const publication = await published(sessionId);
    const [summary] = await listVariants(service, sessionId);
    assert.deepEqual(summary?.publication, publication);
    const status = await service.read<{ variants: VariantSummary[] }>(
      `/api/sessions/${sessionId}/agent/status`,
    );
    assert.deepEqual(status.variants[0]?.publication, publication);
    const events = (await service.container.services.log.read(sessionId, { after: 0, limit: 100 })).map(
      ({ body }) => JSON.parse(body),
    );
    const created = events.find(({ kind }) => kind === "publication.created");
    assert.deepEqual([created.variant, created.author, created.publication], ["main", "person", publication]);
    assert.deepEqual(
      events.findLast(({ kind }) => kind === "variant.updated").variant.publication,
      publication,
    );
  });
});

describe("the script of a publication", () => {
  it("is public, with its content type, compression and revalidation, and matches its integrity", async () => {
    const { sessionId } = await makeSession();
    const { scriptUrl, pinnedScriptUrl, integrity } = await published(sessionId);
    for (const [url, cache] of [
      [scriptUrl, "public, max-age=60"],
      [pinnedScriptUrl, "public, max-age=300"],
    ] as const) {
      const answer = await load(url);
      assert.equal(answer.status, 200);
      const { headers } = answer;
      assert.equal(headers.get("content-type"), "text/javascript; charset=utf-8");
      assert.equal(headers.get("cache-control"), cache);
      assert.equal(headers.get("access-control-allow-origin"), "*");
      assert.equal(headers.get("cross-origin-resource-policy"), "cross-origin");
      assert.equal(headers.get("x-content-type-options"), "nosniff");
      assert.equal(headers.get("set-cookie"), null);
      const bytes = Buffer.from(await answer.arrayBuffer());
      assert.equal(`sha384-${createHash("sha384").update(bytes).digest("base64")}`, integrity);
      const zipped = await load(url, { "accept-encoding": "br, gzip" });
      assert.equal(zipped.headers.get("content-encoding"), "gzip");
      assert.deepEqual(gunzipSync(Buffer.from(await zipped.arrayBuffer())), bytes);
      const etag = headers.get("etag") ?? "";
      assert.equal((await load(url, { "if-none-match": `"x", W/${etag}` })).status, 304);
      assert.equal((await load(url, { "if-none-match": etag, "accept-encoding": "gzip" })).status, 200);
      const other = await load(url, { "accept-encoding": "gzip-foo, xgzip, gzip;q=0" });
      assert.equal(other.headers.get("content-encoding"), null);
      const head = await service.call("HEAD", new URL(url).pathname, undefined, { authorization: "" });
      assert.equal(head.status, 200);
    }
  });

  it("changes with each rollback, is empty while unpublished, and returns with the next release", async () => {
    const { sessionId } = await makeSession();
    const first = await published(sessionId);
    await revise(sessionId, 1, "Buy");
    const second = await published(sessionId);
    assert.equal(second.scriptUrl, first.scriptUrl);
    const read = async (url: string) => (await load(url)).text();
    assert.match(await read(first.scriptUrl), /"Buy"/);
    assert.match(await read(first.pinnedScriptUrl), /"Pay now"/);

    const rollback = (release: number | string) =>
      service.call("POST", `${main(sessionId)}/rollback`, { release });
    const back = (await (await rollback(1)).json()) as { publication: Publication };
    assert.deepEqual(back.publication, first);
    assert.match(await read(first.scriptUrl), /"Pay now"/);
    assert.equal((await rollback(second.release)).status, 200);
    assert.match(await read(first.scriptUrl), /"Buy"/);

    const unpublish = () => service.call("POST", `${main(sessionId)}/unpublish`);
    assert.deepEqual(await (await unpublish()).json(), { success: true, publication: null });
    assert.equal((await unpublish()).status, 200);
    assert.equal((await listVariants(service, sessionId))[0]?.publication, null);
    assert.equal(await read(first.scriptUrl), "/* This variant is not published. */\n");
    for (const { pinnedScriptUrl } of [first, second]) {
      const refused = await load(pinnedScriptUrl);
      assert.equal(refused.headers.get("access-control-allow-origin"), "*");
      assert.deepEqual(await refusal(refused), [410, "this release was unpublished"]);
    }
    const again = await published(sessionId);
    assert.deepEqual([again.id, again.number], [first.id, 3]);
    assert.equal((await load(second.pinnedScriptUrl)).status, 410);
    await rollback(2);
    assert.equal((await load(second.pinnedScriptUrl)).status, 200);
  });

  it("is 404 under every other name", async () => {
    const { sessionId } = await makeSession();
    const { id } = await published(sessionId);
    for (const file of [
      `${id}@2.js`,
      `${id}@0.js`,
      `${id}@01.js`,
      `${id}@99999999999.js`,
      `${id}.js.js`,
      id,
      `${id.toUpperCase()}.js`,
      `pub_${"a".repeat(24)}.js`,
      "..%2f..%2fetc%2fpasswd",
      "__proto__",
    ])
      assert.equal((await load(`http://service/v/${file}`)).status, 404, file);
  });
});

describe("publishing from the session page", () => {
  it("requires the role drive and this origin, and is refused to other owners", async () => {
    const session = await makeSession();
    const { sessionId } = session;
    const token = new URL(session.shareUrl, service.env.baseUrl).searchParams.get("key");
    const visit = (cookie: string, origin = service.env.baseUrl) =>
      service.call(
        "POST",
        `${main(sessionId)}/publish`,
        { unchecked: true },
        { authorization: "", cookie, origin },
      );
    const link = async (role: string) => {
      const answer = await actOnPage(service, session, "/share-links", { role });
      const { shareUrl } = (await answer.json()) as { shareUrl: string };
      return `share=${new URL(shareUrl, service.env.baseUrl).searchParams.get("key")}`;
    };
    assert.equal((await visit(await link("view"))).status, 403);
    assert.equal((await visit(await link("comment"))).status, 403);
    assert.equal((await visit(`share=${token}`, "https://evil.example")).status, 403);
    assert.equal((await visit("share=wrong")).status, 404);
    const foreign = { authorization: `Bearer ${OTHER_KEY}` };
    assert.equal(
      (await service.call("POST", `${main(sessionId)}/publish`, { unchecked: true }, foreign)).status,
      404,
    );
    assert.equal((await visit(await link("drive"))).status, 201);
    const { id } = (await listVariants(service, sessionId))[0]?.publication ?? assert.fail("not published");
    assert.equal(
      (await service.call("GET", `/api/publications/${id}/releases`, undefined, foreign)).status,
      404,
    );
    for (const path of ["rollback", "unpublish"]) {
      const body = path === "rollback" ? { release: 1 } : undefined;
      const answer = await service.call("POST", `/api/publications/${id}/${path}`, body, foreign);
      assert.deepEqual(await refusal(answer), [404, "no such publication"]);
    }
    const listed = await service.call("GET", "/api/publications", undefined, foreign);
    assert.deepEqual(((await listed.json()) as { data: unknown[] }).data, []);
  });
});

describe("a publication", () => {
  it("outlives its session: the deletion names it, and its owner can unpublish it", async () => {
    const { sessionId } = await makeSession();
    const { id, scriptUrl, pinnedScriptUrl } = await published(sessionId);
    const deleted = await service.call("DELETE", `/api/sessions/${sessionId}`);
    assert.deepEqual(((await deleted.json()) as { publications: unknown }).publications, [
      { id, variant: "main", scriptUrl },
    ]);
    service.container.services.publishedScripts.forget(id);
    assert.match(await (await load(scriptUrl)).text(), /"Pay now"/);
    const { data } = await service.read<{ data: { id: string; sessionId: string | null }[] }>(
      "/api/publications?limit=100",
    );
    assert.equal(data.find((each) => each.id === id)?.sessionId, null);
    const ended = await service.call("POST", `/api/publications/${id}/unpublish`);
    assert.deepEqual(await ended.json(), { success: true, publication: null });
    assert.equal((await load(pinnedScriptUrl)).status, 410);
    const { data: releases } = await service.read<{ data: Release[] }>(`/api/publications/${id}/releases`);
    assert.deepEqual(
      releases.map(({ number, isUnpublished }) => [number, isUnpublished]),
      [[1, true]],
    );
    const back = await service.call("POST", `/api/publications/${id}/rollback`, { release: 1 });
    assert.equal(back.status, 200);
    assert.equal((await load(pinnedScriptUrl)).status, 200);
  });

  it("that is unpublished is deleted with its session", async () => {
    const { sessionId } = await makeSession();
    const { id, scriptUrl } = await published(sessionId);
    await service.call("POST", `${main(sessionId)}/unpublish`);
    const deleted = await service.call("DELETE", `/api/sessions/${sessionId}`);
    assert.deepEqual(((await deleted.json()) as { publications: unknown[] }).publications, []);
    service.container.services.publishedScripts.forget(id);
    assert.equal((await load(scriptUrl)).status, 404);
    assert.equal((await service.call("GET", `/api/publications/${id}/releases`)).status, 404);
  });

  it("is stored completely or not at all if its session is deleted at the same time", async () => {
    for (let round = 0; round < 5; round++) {
      const { sessionId } = await makeSession();
      const [answer, deleted] = await Promise.all([
        publish(sessionId),
        service.call("DELETE", `/api/sessions/${sessionId}`),
      ]);
      assert.equal(deleted.status, 200);
      const { publications } = (await deleted.json()) as { publications: { id: string }[] };
      const { publication } = (await answer.json()) as { publication?: Publication };
      assert.ok([201, 404].includes(answer.status));
      assert.deepEqual(
        publications.map(({ id }) => id),
        publication ? [publication.id] : [],
      );
    }
  });

  it("is listed for its owner page by page, newest first", async () => {
    const before = new Set<string>();
    const list = async (query = "") =>
      service.read<{ data: { id: string }[]; nextCursor: string | null }>(`/api/publications${query}`);
    for (const { id } of (await list("?limit=100")).data) before.add(id);
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) {
      const { sessionId } = await makeSession();
      ids.unshift((await published(sessionId)).id);
    }
    const first = await list("?limit=2");
    const second = await list(`?limit=2&cursor=${first.nextCursor}`);
    const listed = [...first.data, ...second.data].map(({ id }) => id);
    assert.deepEqual(listed.slice(0, 3), ids);
    assert.equal((await service.call("GET", "/api/publications?cursor=x")).status, 400);
  });

  it("is served from the cache while the database is unavailable", async () => {
    const { sessionId } = await makeSession();
    const { scriptUrl } = await published(sessionId);
    let isAway = false;
    const db = new Proxy(service.container.services.db, {
      get(target, name, receiver) {
        if (isAway && name === "select")
          return () => {
            throw new Error("the database is away");
          };
        return Reflect.get(target, name, receiver);
      },
    });
    const server = createScriptServer(db, []);
    const file = new URL(scriptUrl).pathname.slice("/v/".length);
    const ask = () => server.answer(file, { ifNoneMatch: null, acceptEncoding: null });
    assert.equal((await ask()).status, 200);
    isAway = true;
    const end = Date.now() + 1_200;
    await waitUntil(() => Date.now() > end, "the state is no longer fresh");
    assert.equal((await ask()).status, 200);
    await assert.rejects(
      server.answer(`pub_${"a".repeat(24)}.js`, { ifNoneMatch: null, acceptEncoding: null }),
    );
  });
});
