import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { RecordedRequest } from "#e2e/fixtures/scripted-model/types.ts";
import { isJsonEqual } from "#lib/projection/json.ts";
import { profiles, schemaForms } from "#lib/projection/profile/profile.ts";
import { projectSchema } from "#lib/projection/project-schema.ts";
import { openTestService, type TestService } from "../testing.ts";
import { only, readEvents, readStatus } from "./turn-testing.ts";

let service: TestService;

before(async () => {
  service = await openTestService();
});
after(() => service.close());

type Json = Record<string, unknown>;
const closed = (properties: Json): Json => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const list = (items: unknown, more: Json = {}) => ({ type: "array", items, ...more });
const text = { type: "string" };
const numbered = (name: string, count: number, schema: unknown): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index}`, schema]));

const sentSchema = (request: RecordedRequest): Json =>
  (request.body.text as { format: { schema: Json } }).format.schema;
const countOf = (schema: Json, pattern: RegExp): number => JSON.stringify(schema).match(pattern)?.length ?? 0;

/**
 * Plays a structured turn with a provider that refuses schemas. The model answers with `value`, in the form in which it
 * is asked.
 */
async function play(
  task: string,
  { schema, value }: { schema: Json; value: Json },
  refuse: (sent: Json) => string | undefined,
) {
  const requests: RecordedRequest[] = [];
  service.model.respondWith((request) => {
    if (request.kind !== "probe" && !request.text.includes(task)) return undefined;
    requests.push(request);
    if (request.kind === "turn") return { text: "I have seen it." };
    const sent = sentSchema(request);
    const message = refuse(sent);
    if (message !== undefined) return { status: 400, message };
    if (request.kind === "probe") return undefined;
    const forms = schemaForms.map((form) => projectSchema(schema, profiles.openai, form));
    const projected = forms.find((form) => isJsonEqual(form.schema, sent))?.project(value);
    assert.ok(projected?.ok, "the request has one of the forms");
    return { json: projected.value };
  });
  const session = await service.create(task, { outputSchema: schema });
  await service.completed(session.statusUrl);
  const status = await readStatus(service, session.sessionId);
  const events = await readEvents(service, session.sessionId);
  return { requests, status, events, kinds: requests.map(({ kind }) => kind) };
}

/** Plays turns of new sessions with one schema until a deliverable is ready. @returns the kinds of all requests. */
async function playUntilReady(
  task: string,
  sample: { schema: Json; value: Json },
  refuse: (sent: Json) => boolean,
) {
  const kinds: string[] = [];
  for (let run = 1; run <= 4; run += 1) {
    const played = await play(`${task} ${run}`, sample, (sent) =>
      refuse(sent) ? "Invalid schema for response_format 'deliverable'" : undefined,
    );
    kinds.push(...played.kinds);
    if (played.status.deliverable?.status === "ready") {
      assert.deepEqual(played.status.deliverable.value, sample.value);
      return kinds;
    }
    assert.deepEqual(played.kinds, ["probe"], "a refused run does no work");
    assert.equal(played.status.lastRun?.outcome, "errored");
    assert.match(String(played.status.lastRun?.error), /Invalid schema for response_format/);
    assert.equal(only(played.events, "run.completed")[0]?.willRetry, undefined);
  }
  assert.fail("no run ended with a result");
}

const bounded = closed({
  age: { type: "integer", minimum: 0 },
  code: { type: "string", pattern: "^[a-z]+$" },
  day: { type: "string", format: "date" },
  tags: list(text, { minItems: 1 }),
});
const value = { age: 3, code: "ab", day: "2026-12-01", tags: ["x"] };
const row = closed({ name: text, sizes: list(closed({ size: text, stock: list(closed({ at: text })) })) });
const rows = [{ name: "a", sizes: [{ size: "b", stock: [{ at: "c" }] }] }];
const many = (name: string, schema: unknown, one: unknown) => ({
  schema: closed(numbered(name, 60, schema)),
  value: numbered(name, 60, one),
});

describe("a provider that refuses the first form of a schema", () => {
  const rules: [
    rule: string,
    sample: { schema: Json; value: Json },
    refuse: (sent: Json) => boolean,
    probes: number,
  ][] = [
    [
      "numbers with bounds",
      { schema: { ...bounded, title: "1" }, value },
      (sent) => countOf(sent, /"minimum"/g) > 0,
      2,
    ],
    ["patterns", { schema: { ...bounded, title: "2" }, value }, (sent) => countOf(sent, /"pattern"/g) > 0, 2],
    ["formats", { schema: { ...bounded, title: "3" }, value }, (sent) => countOf(sent, /"format"/g) > 0, 2],
    [
      "bounds of lists",
      { schema: { ...bounded, title: "4" }, value },
      (sent) => countOf(sent, /"minItems"/g) > 0,
      2,
    ],
    ["more than 50 properties", many("p", text, "a"), (sent) => countOf(sent, /"p\d+":/g) > 50, 2],
    [
      "more than 16 unions",
      { schema: { ...closed(numbered("u", 60, text)), required: [] }, value: { u0: "a", u59: "b" } },
      (sent) => countOf(sent, /\["string","null"\]/g) > 16,
      2,
    ],
    [
      "recursion",
      {
        schema: {
          ...closed({ tree: { $ref: "#/$defs/tree" } }),
          $defs: { tree: list({ $ref: "#/$defs/tree" }) },
        },
        value: { tree: [[], [[]]] },
      },
      (sent) => {
        const { $defs } = sent as { $defs?: Json };
        return Object.entries($defs ?? {}).some(([name, part]) =>
          JSON.stringify(part).includes(`"#/$defs/${name}"`),
        );
      },
      2,
    ],
    [
      "lists of objects in lists of objects",
      { schema: closed({ rows: list(row) }), value: { rows } },
      (sent) => countOf(sent, /"items":\{"type":"object"/g) > 1,
      2,
    ],
    [
      "bounds, and too many properties",
      {
        schema: closed({ age: { type: "integer", minimum: 0 }, ...numbered("q", 60, text) }),
        value: { age: 1, ...numbered("q", 60, "a") },
      },
      (sent) => countOf(sent, /"minimum"/g) > 0 || countOf(sent, /"q\d+":/g) > 50,
      3,
    ],
  ];
  for (const [rule, sample, refuse, probes] of rules)
    it(`for ${rule}: gets a plainer one in the next run of any session, and keeps it`, async () => {
      const kinds = await playUntilReady(`provider without ${rule}`, sample, refuse);
      assert.deepEqual(kinds, [...Array.from({ length: probes }, () => "probe"), "turn", "structured"]);
      const again = await playUntilReady(`provider without ${rule}, later`, sample, refuse);
      assert.deepEqual(again, ["probe", "turn", "structured"]);
    });

  it("gets the same form again if the refusal is not about the schema", async () => {
    const sample = { schema: { ...bounded, title: "5" }, value };
    const poor = await play("unpaid", sample, () => "Your credit balance is too low.");
    assert.equal(poor.status.lastRun?.outcome, "errored");
    const paid = await play("paid", sample, () => undefined);
    assert.equal(paid.status.deliverable?.status, "ready");
    const [first] = paid.requests;
    assert.ok(first && countOf(sentSchema(first), /"minimum"/g) === 1);
  });

  it("keeps the plainest form if that is refused, too", async () => {
    const sample = { schema: { ...bounded, title: "6" }, value };
    for (const run of [1, 2, 3, 4]) {
      const played = await play(`strict provider ${run}`, sample, () => "Invalid schema");
      assert.deepEqual(played.kinds, ["probe"]);
    }
    const last = await play("mild provider", sample, () => undefined);
    assert.deepEqual(last.status.deliverable?.value, value);
    assert.equal(countOf(sentSchema(last.requests[0] as RecordedRequest), /"minimum"/g), 0);
  });
});
