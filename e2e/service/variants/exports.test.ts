import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Script } from "node:vm";
import type { VariantDocument } from "#lib/variant/document.ts";
import { OTHER_KEY, openTestService, type TestService } from "../testing.ts";
import { listVariants, readRevision } from "./variants-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService();
});
after(() => service.close());

const document: VariantDocument = {
  pages: [
    {
      url: "https://shop.example/checkout",
      match: "path",
      changes: [
        { id: "c1", op: "setText", selector: "#pay", text: "Pay </script> now" },
        { id: "c2", op: "insert", selector: "#pay", position: "after", html: "<i>free</i>" },
        { id: "c3", op: "remove", selector: ".banner" },
      ],
      css: ".note { color: red }",
      js: "window.ran = true;",
    },
  ],
};

async function makeSession(): Promise<string> {
  const { sessionId, statusUrl } = await service.create("work");
  await service.completed(statusUrl);
  return sessionId;
}
const importInto = (sessionId: string, body: unknown, variant = "main") =>
  service.call("POST", `/api/sessions/${sessionId}/variants/${variant}/import`, body);
const exportFrom = (sessionId: string, format: string, revision = 1) =>
  service.call(
    "GET",
    `/api/sessions/${sessionId}/variants/main/revisions/${revision}/export?format=${format}`,
  );

type Exported = { format: string; document: unknown; omitted: { changeId: string | null; reason: string }[] };

async function exported(sessionId: string, format: string): Promise<Exported> {
  const answer = await exportFrom(sessionId, format);
  assert.equal(answer.status, 200);
  return (await answer.json()) as Exported;
}

describe("the export of a revision", () => {
  it("is a file in each format, and names what the format cannot contain", async () => {
    const sessionId = await makeSession();
    assert.equal((await importInto(sessionId, { format: "json", document })).status, 201);
    const json = await exported(sessionId, "json");
    assert.deepEqual(json.document, {
      format: "agent-session-variant",
      version: 1,
      variant: "main",
      revision: 1,
      ...document,
    });
    assert.deepEqual(json.omitted, []);
    const growthbook = await exported(sessionId, "growthbook");
    assert.deepEqual(
      growthbook.omitted.map(({ changeId }) => changeId),
      ["c2"],
    );
    assert.match(growthbook.omitted[0]?.reason ?? "", /GrowthBook/);
    const posthog = await exported(sessionId, "posthog");
    assert.deepEqual(new Set(posthog.omitted.map(({ changeId }) => changeId)), new Set(["c2", "c3", null]));
    const answer = await exportFrom(sessionId, "script");
    assert.equal(answer.headers.get("content-type"), "text/javascript; charset=utf-8");
    assert.equal(answer.headers.get("content-disposition"), 'attachment; filename="main-r1.js"');
    const script = await answer.text();
    assert.doesNotThrow(() => new Script(script));
    assert.ok(!script.includes("</script>"));
  });

  it("and the published script name the variant, but not the session", async () => {
    const [sessionId, other] = [await makeSession(), await makeSession()];
    for (const id of [sessionId, other]) await importInto(id, { format: "json", document });
    const formats = ["json", "growthbook", "posthog", "script"];
    const read = async (id: string) =>
      Promise.all(formats.map(async (format) => (await exportFrom(id, format)).text()));
    const published = await service.call("POST", `/api/sessions/${sessionId}/variants/main/publish`, {
      unchecked: true,
    });
    const { publication } = await published.json();
    const served = await service.call("GET", new URL(publication.scriptUrl).pathname);
    const files = await read(sessionId);
    const headers = JSON.stringify([...served.headers]);
    for (const text of [...files, await served.text(), headers, publication.scriptUrl])
      assert.ok(!text.includes(sessionId.slice("ses_".length)), text.slice(0, 200));
    const keys = [files, await read(sessionId), await read(other)].map((texts) =>
      texts.slice(1).map((text) => /main-[0-9a-f]{24}/.exec(text)?.[0]),
    );
    assert.equal(new Set(keys[0]).size, 1);
    assert.deepEqual(keys[0], keys[1], "a variant has the same key in each of its exports");
    assert.notDeepEqual(keys[0], keys[2]);
    assert.ok(keys[0]?.[0]);
  });

  it("is refused for unknown formats, unknown revisions and other owners", async () => {
    const sessionId = await makeSession();
    await importInto(sessionId, { format: "json", document });
    const refused = await exportFrom(sessionId, "xml");
    assert.equal(refused.status, 400);
    assert.match(
      ((await refused.json()) as { error: string }).error,
      /^format: must be one of "script", "json", "growthbook" or "posthog"$/,
    );
    assert.equal((await exportFrom(sessionId, "json", 2)).status, 404);
    const path = `/api/sessions/${sessionId}/variants/main/revisions/1/export`;
    const foreign = await service.call("GET", path, undefined, { authorization: `Bearer ${OTHER_KEY}` });
    assert.equal(foreign.status, 404);
  });
});

describe("an import", () => {
  it("restores in another session what each format contains", async () => {
    const [from, to] = [await makeSession(), await makeSession()];
    await importInto(from, { format: "json", document });
    for (const [index, format] of ["json", "growthbook", "posthog"].entries()) {
      const { document: file } = await exported(from, format);
      const answer = await importInto(to, { format, document: file, baseRevision: index });
      assert.equal(answer.status, 201, await answer.clone().text());
      const { author, document: imported } = await readRevision(service, to, index + 1);
      assert.equal(author, "person");
      const texts = imported.pages.flatMap(({ changes }) => changes.filter(({ op }) => op === "setText"));
      assert.deepEqual(
        texts.map((change) => change.op === "setText" && change.text),
        ["Pay </script> now"],
      );
      assert.equal(imported.pages[0]?.url, "https://shop.example/checkout");
    }
    assert.deepEqual((await readRevision(service, to, 1)).document, document);
    // The whole answer of the export operation can be imported.
    for (const format of ["json", "growthbook", "posthog"]) {
      const body = { format, document: await exported(from, format) };
      assert.equal((await importInto(to, body, `saved-${format}`)).status, 201);
    }
  });

  it("adds the variant to the outcome of an editing session without editing tools", async () => {
    const { sessionId, statusUrl } = await service.create("work", { tools: { exclude: ["apply_variant"] } });
    await service.completed(statusUrl);
    await importInto(sessionId, { format: "json", document });
    const { variants } = await service.read<{ variants: { key: string }[] }>(
      `/api/sessions/${sessionId}/agent/status`,
    );
    assert.deepEqual(
      variants.map(({ key }) => key),
      ["main"],
    );
  });

  it("is refused with the reason if it is outdated or contains nothing usable", async () => {
    const sessionId = await makeSession();
    const refuse = async (body: unknown, status: number, sentence: RegExp, variant?: string) => {
      const answer = await importInto(sessionId, body, variant);
      const { error } = (await answer.json()) as { error: string };
      assert.equal(answer.status, status, error);
      assert.match(error, sentence);
    };
    const json = (changed: object) => ({
      format: "json",
      document: { pages: [{ ...document.pages[0], ...changed }] },
    });
    const change = { id: "c1", op: "setHtml", selector: "h1" };
    await refuse({ format: "json" }, 400, /^document/);
    await refuse({ format: "xml", document }, 400, /^format: /);
    await refuse({ format: "json", document: [document] }, 400, /^document: /);
    await refuse({ format: "json", document: { pages: "all" } }, 400, /^document\.pages: /);
    await refuse(
      json({ changes: [{ ...change, html: "<script>alert(1)</script>" }] }),
      400,
      /^document: change c1/,
    );
    await refuse(json({ changes: [{ ...change, html: "<p onclick=x>" }] }), 400, /^document: change c1/);
    await refuse(json({ url: "javascript:alert(1)" }), 400, /^document: /);
    await refuse(json({ js: "}" }), 400, /^document: /);
    await refuse('{"format":"json","document":{"pages":[],"__proto__":{"x":1}}}', 400, /./);
    await refuse({ format: "growthbook", document: { experiments: [] } }, 400, /^document/);
    await refuse({ format: "growthbook", document: { visualChanges: 5 } }, 400, /^document/);
    await refuse({ format: "posthog", document: { experiments: [{ variants: null }] } }, 400, /^document/);
    await refuse({ format: "posthog", document: "x" }, 400, /^document/);
    await refuse(
      { format: "json", document, baseRevision: 3 },
      409,
      /^baseRevision: the variant does not exist; send 0$/,
    );
    await refuse(
      { format: "json", document, url: "file:///etc/passwd" },
      400,
      /^url: must be an absolute http\(s\) URL$/,
    );
    await refuse(
      { format: "json", document: { pages: [] } },
      400,
      /^document: contains nothing that can be imported/,
    );
    await refuse({ format: "json", document: "x".repeat(3 * 1024 * 1024) }, 413, /^body: /);
    await refuse({ format: "json", document }, 404, /./, "No");
    assert.deepEqual(await listVariants(service, sessionId), []);
    assert.equal((await importInto(sessionId, { format: "json", document })).status, 201);
    for (const baseRevision of [0, 2_147_483_648, Number.MAX_SAFE_INTEGER])
      await refuse(
        { format: "json", document, baseRevision },
        409,
        /^baseRevision: the newest revision is 1; send that to replace it$/,
      );
  });
});
