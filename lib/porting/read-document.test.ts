import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { newId } from "#lib/session/new-id.ts";
import type { SessionExport } from "./format.ts";
import { readDocument, readDocumentText } from "./read-document.ts";
import { readInThread } from "./read-in-thread.ts";

const AT = "2026-11-20T12:31:59.889Z";
const change = { id: "c1", op: "setText" as const, selector: "#pay", text: "Buy" };
const file: SessionExport = {
  format: "agent-session",
  version: 1,
  id: "ses_a@7",
  exportedAt: AT,
  session: {
    id: "ses_a",
    title: "Change the shop",
    source: "api",
    createdAt: AT,
    state: "done",
    stateReason: null,
    targetUrl: null,
    targetPageUrls: [],
    outputSchema: null,
    capabilities: { browser: true, sandbox: true },
    subAgents: false,
    skills: [{ name: "form-audit", version: "0a1b" }],
  },
  messages: [
    {
      id: "msg_1",
      role: "assistant",
      parts: [
        { type: "text", text: "Done." },
        { type: "tool-call", toolCallId: "call_1", toolName: "dom_query", input: { a: 1 } },
      ],
      results: [{ toolCallId: "call_1", toolName: "dom_query", state: "succeeded", text: "x", isCut: false }],
      author: null,
      createdAt: AT,
    },
  ],
  variants: [
    {
      key: "main",
      revision: 3,
      author: "agent",
      createdAt: AT,
      document: { pages: [{ url: "https://a.example/", match: "path", changes: [change], css: "", js: "" }] },
      check: { status: "pass", at: AT },
      publication: null,
    },
  ],
  plan: { mode: "agreed", author: "agent", items: [{ id: "p1", text: "Look", status: "done" }] },
  requirements: [
    {
      id: "r1",
      text: "The button reads Buy",
      status: "met",
      note: "Seen.",
      author: "person",
      assertion: { url: "https://a.example/", selector: "#pay", is: "text", value: "Buy" },
      outcome: { status: "pass", at: AT, variant: "main", revision: 3, message: null },
      evidenceIds: ["evi_1"],
    },
    {
      id: "r2",
      text: "The page is blue",
      status: "waived",
      note: null,
      author: "agent",
      assertion: null,
      outcome: null,
      evidenceIds: [],
    },
  ],
  reports: [
    {
      id: "rep_1",
      title: "Audit",
      version: 2,
      createdAt: AT,
      counts: { critical: 0, serious: 1, moderate: 0, minor: 0, info: 0 },
      tested: [{ variant: "main", revision: 3, check: { status: "pass", at: AT } }],
      summary: "Fine.",
      findings: [
        {
          severity: "serious",
          title: "No name",
          detail: "The button has no name.",
          url: "https://a.example/",
          selector: "#pay",
          steps: ["Open it."],
          evidence: [{ id: "evi_1", kind: "screenshot", title: "It", url: null, mediaType: "image/png" }],
        },
      ],
    },
  ],
  pages: [{ slug: "sale", url: "https://a.example/p/sale/", version: 1, note: null }],
  deliverables: [],
  previews: [],
  annotations: [{ id: "ann_1", event: "submit", createdAt: AT }],
  agents: [],
  imports: [],
  evidence: [],
  leftOut: [],
};

/** Lists the paths of a JSON value and of all values inside it. */
function listPlaces(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== "object" || value === null) return [path];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...entries.flatMap(([key, inner]) => listPlaces(inner, [...path, key]))];
}

function replace(path: (string | number)[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const copy = structuredClone(file) as unknown as Record<string | number, unknown>;
  let at = copy;
  for (const each of [key, ...rest].slice(0, -1)) at = at[each] as Record<string | number, unknown>;
  at[[key, ...rest].at(-1) ?? ""] = value;
  return copy;
}

/** Matches a problem text: a field or `document`, a colon, and a sentence. */
const FIELD_AND_SENTENCE = /^[\w$[-].*: .+/s;

describe("the reader of documents", () => {
  it("returns the content to import, and the list of parts that are left out", () => {
    const read = readDocument(file);
    assert.ok(read.ok);
    const { documentId, title, variants, messages, leftOut } = read.plan;
    assert.deepEqual([documentId, title], ["ses_a@7", "Change the shop"]);
    assert.deepEqual(variants, [{ key: "main", document: file.variants[0]?.document }]);
    assert.deepEqual(messages, file.messages);
    assert.deepEqual(read.plan.planItems, [{ text: "Look", status: "done" }]);
    assert.deepEqual(read.plan.requirements, [
      {
        field: "requirements[0]",
        text: "The button reads Buy",
        assertion: file.requirements[0]?.assertion,
      },
    ]);
    assert.deepEqual(
      leftOut.map(({ field }) => field),
      [
        "session",
        "variants[0].check",
        "plan.mode",
        "requirements[1]",
        "requirements",
        "reports",
        "pages",
        "annotations",
      ],
    );
  });

  it("never throws: a document with any value at any place is read, or refused with the field", () => {
    const places = listPlaces(file);
    const odd = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom<unknown>(
        null,
        "",
        "\0",
        "\ud800",
        -1,
        1e308,
        [],
        {},
        { constructor: 1 },
        { toString: null },
        [[[]]],
      ),
      fc.constant(undefined),
    );
    fc.assert(
      fc.property(fc.constantFrom(...places), odd, (path, value) => {
        const read = readDocument(replace(path, value));
        if (!read.ok) assert.match(read.problem, FIELD_AND_SENTENCE);
      }),
      { numRuns: 3_000 },
    );
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: false }), (value) => {
        const read = readDocument(value);
        if (!read.ok) assert.match(read.problem, FIELD_AND_SENTENCE);
      }),
      { numRuns: 1_000 },
    );
  });

  it("refuses deeply nested texts and values without a stack overflow", () => {
    const deep = "[".repeat(2_000_000);
    assert.deepEqual(readDocumentText(Buffer.from(deep)), {
      ok: false,
      problem: "document: is nested deeper than 200 levels",
    });
    let nested: unknown = 1;
    for (let level = 0; level < 100_000; level++) nested = [nested];
    const read = readDocument(nested);
    assert.ok(!read.ok && /is nested deeper than 200 levels$/.test(read.problem), JSON.stringify(read));
    assert.deepEqual(readDocumentText(new Uint8Array([0xff])), {
      ok: false,
      problem: "document: must be UTF-8",
    });
  });

  it("reads a large text in a thread, to the same result", async () => {
    const text = "word ".repeat(100_000);
    const large = {
      ...file,
      messages: [{ ...file.messages[0], parts: [{ type: "text", text }], id: newId("msg") }],
    };
    const bytes = Buffer.from(JSON.stringify(large));
    assert.deepEqual(await readInThread(bytes), readDocument(large));
    assert.deepEqual(await readInThread(Buffer.from(`${bytes}x`)), {
      ok: false,
      problem: "document: must be valid JSON",
    });
  });
});
