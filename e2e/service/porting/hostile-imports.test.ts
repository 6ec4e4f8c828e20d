import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { SessionExport } from "#lib/porting/format.ts";
import { openTestService, type TestService } from "../testing.ts";
import { listVariants } from "../variants/variants-testing.ts";
import {
  exportSession,
  imported,
  importInto,
  makeSession,
  oneChange,
  storeVariant,
} from "./porting-testing.ts";

let service: TestService;
let file: SessionExport;
let sessionId: string;
before(async () => {
  service = await openTestService();
  service.model.respondWith(() => ({ text: "Done." }));
  const from = await makeSession(service);
  await storeVariant(service, from.sessionId, "main", oneChange("Buy"));
  file = await exportSession(service, from.sessionId);
  ({ sessionId } = await makeSession(service));
});
after(() => service.close());

/** Returns a copy of the document in which the value at `path` is replaced. */
function change(path: (string | number)[], value: unknown): unknown {
  const copy: unknown = structuredClone(file);
  let at = copy as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, unknown>;
  at[path.at(-1) ?? ""] = value;
  return copy;
}

/** Checks that an import is refused with this sentence, and that the session stays unchanged. */
async function expectRefused(body: unknown, sentence: string | RegExp, status = 400): Promise<void> {
  const answer = await importInto(service, sessionId, body);
  const { error } = (await answer.json()) as { error: string };
  assert.equal(answer.status, status, error);
  if (typeof sentence === "string") assert.equal(error, sentence);
  else assert.match(error, sentence);
  assert.deepEqual(await listVariants(service, sessionId), []);
  const { data } = await service.read<{ data: unknown[] }>(`/api/sessions/${sessionId}/imports`);
  assert.deepEqual(data, []);
}

const requirement = (fields: object) => ({
  id: "r1",
  text: "The button reads Buy",
  status: "open",
  note: null,
  author: "agent",
  assertion: null,
  outcome: null,
  evidenceIds: [],
  ...fields,
});
const message = (fields: object) => ({ ...file.messages[0], id: "m9", ...fields });

describe("an invalid document", () => {
  it("is refused with the invalid field, at every depth", async () => {
    const cases: [(string | number)[], unknown, string][] = [
      [["id"], 7, "id: must be a string"],
      [["id"], "", "id: must not be empty"],
      [["exportedAt"], "yesterday", "exportedAt: must be a time such as 2026-11-20T12:31:59.889Z"],
      [
        ["exportedAt"],
        "2026-13-45T99:99:99.999Z",
        "exportedAt: must be a time such as 2026-11-20T12:31:59.889Z",
      ],
      [["session"], null, "session: must be an object"],
      [["session", "source"], "fax", 'session.source: must be one of "web", "api", "slack", "cli"'],
      [["messages"], {}, "messages: must be an array"],
      [["messages", 0, "role"], "system", 'messages[0].role: must be one of "user", "assistant"'],
      [["messages", 0, "parts"], "text", "messages[0].parts: must be an array"],
      [["messages", 0, "parts", 0], 5, "messages[0].parts[0]: must be an object"],
      [["messages", 0, "parts", 0, "text"], 5, "messages[0].parts[0].text: must be a string"],
      [["messages", 0, "constructor"], {}, "messages[0].constructor: unknown field"],
      [["messages", 1, "id"], file.messages[0]?.id, "messages[1].id: is the same as messages[0].id"],
      [["variants", 1], file.variants[0], "variants[1].key: is the same as variants[0].key"],
      [
        ["variants", 0, "key"],
        "../x",
        "variants[0].key: must be 1 to 32 lowercase letters, digits and hyphens, and must not begin with a hyphen",
      ],
      [["variants", 0, "document", "pages"], [], "variants[0].document.pages: must not be empty"],
      [
        ["variants", 0, "document", "pages", 0, "url"],
        "javascript:alert(1)",
        "variants[0].document.pages[0].url: must be an absolute http or https address",
      ],
      [
        ["variants", 0, "document", "pages", 0, "changes", 0, "selector"],
        "#[",
        /* the beginning of the error */ "variants[0].document.pages[0].changes[0].selector: ",
      ],
      [["variants", 0, "revision"], 1e21, "variants[0].revision: "],
      [["evidence"], [{ id: 1 }], "evidence[0].id: must be a string"],
      [["agents"], "none", "agents: must be an array"],
      [["plan"], { items: [] }, 'plan.mode: must be one of "off", "plan_first", "agreed"'],
      [
        ["plan"],
        { mode: "off", author: null, items: [{ id: "p1", text: " ", status: "todo" }] },
        "plan.items[0].text: must not be empty",
      ],
      [["requirements"], [requirement({ text: "" })], "requirements[0].text: must not be empty"],
      [
        ["requirements"],
        [requirement({ status: "done" })],
        'requirements[0].status: must be one of "open", "met", "failed", "waived"',
      ],
      [
        ["requirements"],
        [requirement({ assertion: { url: "javascript:1", selector: "a", is: "visible" } })],
        "requirements[0].assertion.url: must be an absolute http(s) URL",
      ],
      [
        ["requirements"],
        [requirement({ assertion: { url: "https://a.example/", selector: "a >> ", is: "visible" } })],
        "requirements[0].assertion.selector: has an empty part before or after >>",
      ],
      [
        ["requirements"],
        [requirement({}), requirement({})],
        "requirements[1].id: is the same as requirements[0].id",
      ],
      [
        ["requirements"],
        Array.from({ length: 101 }, (_, index) => requirement({ id: `r${index}` })),
        "requirements: must hold at most 100 entries",
      ],
      [["requirements"], [requirement({ owner: 1 })], "requirements[0].owner: unknown field"],
      [["reports"], [{ id: "rep_1" }], "reports[0].title: is required"],
      [["pages"], [{ slug: 1 }], "pages[0].slug: must be a string"],
      [["session", "skills"], [{ name: 1 }], "session.skills[0].name: must be a string"],
      [["version"], 2, "version: must be 1, the version that this service reads"],
    ];
    for (const [path, value, sentence] of cases) {
      const exact = !sentence.endsWith(": ");
      await expectRefused(
        change(path, value),
        exact ? sentence : new RegExp(`^${sentence.replace(/[.[\]]/g, "\\$&")}`),
      );
    }
    const twice = { id: "c1", op: "remove", selector: "h1" };
    await expectRefused(
      change(["variants", 0, "document", "pages", 0, "changes", 1], twice),
      "variants[0].document.pages[0].changes[1].id: is the same id as pages[0].changes[0].id",
    );
    const script = { id: "c2", op: "setHtml", selector: "h1", html: "<script>alert(1)</script>" };
    await expectRefused(
      change(["variants", 0, "document", "pages", 0, "changes", 1], script),
      /^variants\[0\]\.document\.pages\[0\]\.changes\[1\]\.html: /,
    );
  });

  it("is refused if it contains values that cannot be stored", async () => {
    await expectRefused(
      change(["messages", 0, "parts", 0, "text"], "a\0b"),
      "messages[0].parts[0].text: must not contain NUL characters",
    );
    await expectRefused(
      JSON.stringify(change(["session", "title"], "@@")).replace("@@", "\\ud800"),
      "session.title: must be well-formed Unicode (it holds a lone surrogate)",
    );
    await expectRefused(
      JSON.stringify(file).replace('"format"', '"__proto__":{"a":1},"format"'),
      "__proto__: is not an allowed key",
    );
    await expectRefused(
      JSON.stringify(change(["messages", 0, "parts"], [{ type: "text", text: "@@" }])).replace(
        '"@@"',
        "1e999",
      ),
      "messages[0].parts[0].text: is too large a number",
    );
    const deep = `${"[".repeat(300)}${"]".repeat(300)}`;
    await expectRefused(
      JSON.stringify(file).replace('"leftOut":[]', `"leftOut":${deep}`),
      "leftOut: is nested deeper than 200 levels",
    );
  });

  it("is refused if its format is unknown, and the sentence lists the formats", async () => {
    const kinds =
      "document: must be a session's JSON export (format version 1), a variant's JSON export, or a document of GrowthBook or PostHog";
    for (const body of [{}, [], "7", "null", { format: "har", version: 1 }]) await expectRefused(body, kinds);
    await expectRefused(" ", "body: must not be empty");
    await expectRefused("{", "body: must be valid JSON");
    await expectRefused({ format: "agent-session" }, /^version: must be 1/);
    await expectRefused({ format: "agent-session", version: 1 }, "id: is required");
  });

  it("is refused if it is too large, without reading it to its end", async () => {
    const text = "x".repeat(11 * 1024 * 1024);
    await expectRefused(change(["session", "title"], text), "body: must be at most 10,240 KiB", 413);
    const many = Array.from({ length: 20_001 }, (_, index) =>
      message({ id: `m${index}`, parts: [], results: [] }),
    );
    await expectRefused(change(["messages"], many), "messages: must hold at most 20,000 entries");
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        controller.enqueue(new Uint8Array(1024 * 1024).fill(0x20));
      },
    });
    const init = {
      method: "POST",
      body: endless,
      duplex: "half",
      headers: { authorization: "Bearer key-of-the-service-tests" },
    };
    const request = new Request(
      `${service.env.baseUrl}/api/sessions/${sessionId}/import`,
      init as RequestInit,
    );
    const answer = await service.container.mounted.serve({ POST: "importIntoSession" }, request, {
      sessionId,
    });
    assert.equal(answer.status, 413);
    assert.ok(sent <= 12, `${sent} MiB of the endless body were read`);
  });
});

describe("a document of almost 10 MiB", () => {
  it("is read in a worker thread, so other requests are served meanwhile", async (t) => {
    const { sessionId: target } = await makeSession(service);
    const many = Array.from({ length: 9_500 }, (_, index) =>
      message({ id: `m${index}`, parts: [{ type: "text", text: `word ${index} `.repeat(90) }], results: [] }),
    );
    const body = JSON.stringify({ ...(change(["messages"], many) as object), id: "large" });
    assert.ok(body.length > 9 * 1024 * 1024 && body.length < 10 * 1024 * 1024, `${body.length}`);
    const { mock } = t.mock.method(JSON, "parse");
    const importing = imported(service, target, body).finally(() => mock.restore());
    let isOver = false;
    void importing.then(() => (isOver = true));
    let answered = 0;
    for (; !isOver; answered += 1) await service.read(`/api/sessions/${target}`);
    const { import: summary } = await importing;
    assert.equal(summary.messageCount, 9_500);
    const parsed = mock.calls.map(({ arguments: [text] }) => text.length);
    assert.ok(parsed.length > 0 && Math.max(...parsed) < 100_000, `${Math.max(...parsed)} characters parsed`);
    assert.ok(answered > 5, `${answered} other requests were answered meanwhile`);
    const found = await service.container.services.transcript.searchImported(target, "word 9499", 5);
    assert.equal(found.length, 1);
  });
});

describe("unknown parts and fields", () => {
  it("are left out by name, and text is not interpreted as HTML", async () => {
    const { sessionId: target } = await makeSession(service);
    const text = "<script>alert(1)</script>";
    const body = {
      ...(change(
        ["messages", 0, "parts"],
        [
          { type: "hologram", data: 1 },
          { type: "text", text },
        ],
      ) as object),
      id: "unknown",
      hologram: { items: [] },
    };
    const { leftOut, import: summary } = await imported(service, target, body);
    const fields = leftOut.map(({ field }) => field);
    assert.ok(fields.includes("messages[0].parts[0]") && fields.includes("hologram"), fields.join());
    const { data } = await service.read<{ data: SessionExport["messages"] }>(
      `/api/sessions/${target}/imports/${summary.id}`,
    );
    assert.deepEqual(data[0]?.parts, [{ type: "text", text }]);
  });
});
