import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

const main = new URL("./main.ts", import.meta.url).pathname;
const product = {
  type: "object",
  properties: { name: { type: "string", maxLength: 9 } },
  additionalProperties: { type: "integer" },
};

const silent = { type: "object", properties: { a: { type: "string" } } };

/** Runs the command in a child process. */
function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const options = { timeout: 30_000 };
    execFile(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", main, ...args],
      options,
      (error, out, err) => resolve({ code: typeof error?.code === "number" ? error.code : 0, out, err }),
    );
  });
}

describe("npm run project-schema", () => {
  let folder: string;
  const file = (name: string) => join(folder, name);
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "project-schema-"));
    await mkdir(file("many/deep"), { recursive: true });
    await writeFile(file("product.json"), JSON.stringify(product));
    await writeFile(file("many/a.json"), JSON.stringify(product));
    await writeFile(file("many/deep/b.json"), JSON.stringify({ type: "array" }));
    await writeFile(file("many/c.json"), "{ no JSON");
    const lines = [
      { schema: product, values: [{ name: "x", size: 1 }, { name: 1 }] },
      { type: "object", allOf: [{ $ref: "#" }] },
      { type: "object", properties: { a: { $ref: "#/nowhere" } } },
      { schema: silent, values: [{ a: "x" }, { a: "x", b: 1 }] },
    ];
    // A value survives with `0` in place of `-0`, which JSON.stringify does not write.
    const text = lines.map((line) => JSON.stringify(line)).join("\n");
    await writeFile(file("lines.jsonl"), text.replace('"size":1', '"size":-0'));
  });
  after(() => rm(folder, { recursive: true }));

  test("one schema: the projection, the constraints in descriptions, and an example round trip", async () => {
    const { code, out } = await run(file("product.json"));
    assert.equal(code, 0, out);
    assert.match(out, /"additionalProperties": false/);
    assert.match(out, /\/properties\/name {2}maxLength: At most 9 characters\./);
    assert.match(out, /the caller gets {3}\{.*"name":"text"/);
    assert.match(out, /survives the way there and back/);
    for (const provider of ["openai", "anthropic", "gemini"])
      assert.match(
        out,
        new RegExp(`^fits ${provider} \\([\\d.]+ ×\\), 1 constraint in words, 0 parts as JSON text$`, "m"),
      );
  });

  test("a folder: one line for each schema, and a summary", async () => {
    const { code, out, err } = await run(file("many"));
    assert.equal(code, 0);
    assert.match(out, /^ok .*a\.json {2}fits openai \([\d.]+ ×\), fits anthropic .*, fits gemini .*$/m);
    assert.match(out, /^refused .*b\.json {2}outputSchema: the root must be an object schema/m);
    assert.match(out, /^refused .*c\.json {2}not JSON: /m);
    assert.match(err, /^3 schemas: 1 admitted, 1 of these fit\.$/m);
    assert.match(
      err,
      /^gemini: 1 of 1 fit, length [\d.]+ × in the median and [\d.]+ × at the 90th percentile/m,
    );
  });

  test("--json: one JSON object per schema, with the error of the 400 and the outcomes of the values", async () => {
    const { code, out } = await run(file("lines.jsonl"), "--json");
    assert.equal(code, 0);
    const [first, second, third, fourth] = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.equal(first.fits, true);
    assert.deepEqual(first.roundTrips, { exact: 3, different: 0, undeclared: 0, "skipped-invalid": 3 });
    assert.deepEqual(fourth.roundTrips, { exact: 3, different: 0, undeclared: 3, "skipped-invalid": 0 });
    assert.deepEqual(first.projection.properties.name.description, "At most 9 characters.");
    assert.deepEqual(first.folded, [
      { pointer: "/properties/name", keyword: "maxLength", sentence: "At most 9 characters." },
    ]);
    assert.equal(second.error, "outputSchema: /allOf/0/$ref refers to itself without end");
    assert.equal(third.admitted, false);
  });

  test("JSON lines are split at line feeds only: a string may contain U+2028 and U+2029", async () => {
    const schema = { type: "object", description: "one\u2028two\u2029three" };
    await writeFile(file("separators.jsonl"), `${JSON.stringify(schema)}\r\n${JSON.stringify(product)}`);
    const { code, out } = await run(file("separators.jsonl"), "--json");
    assert.equal(code, 0, out);
    const [first, second, ...more] = out.trim().split("\n");
    assert.equal(JSON.parse(String(first)).projection.description, schema.description);
    assert.match(JSON.parse(String(second)).source, /separators\.jsonl:2$/);
    assert.deepEqual(more, []);
  });

  test("a schema that is too slow to check does not stop the rest", async () => {
    const slow = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$", default: "x" } } };
    const words = "a".repeat(40);
    const lines = [
      { schema: slow, values: [{ a: `${words}!` }] },
      { schema: product, values: [{ name: "x" }] },
    ];
    await writeFile(file("slow.jsonl"), lines.map((line) => JSON.stringify(line)).join("\n"));
    const { code, out } = await run(file("slow.jsonl"), "--provider", "openai");
    assert.equal(code, 0, out);
    assert.match(out, /^ok .*slow\.jsonl:1 .*1 invalid values skipped$/m);
    assert.match(out, /^ok .*slow\.jsonl:2 .*1 of 1 values came back exactly$/m);
  });

  test("--definitions: each definition that is an object schema is checked as well", async () => {
    const definitions = {
      size: { type: "object", properties: { of: { $ref: "#/definitions/name" } } },
      name: { type: "string" },
    };
    await writeFile(file("defined.json"), JSON.stringify({ type: "object", definitions }));
    const { out } = await run(file("defined.json"), "--definitions");
    assert.match(out, /^ok .*defined\.json#size /m);
    assert.doesNotMatch(out, /#name/);
  });

  test("a single refused schema: the error of the 400, and exit code 1", async () => {
    for (const args of [[file("many/deep/b.json")], [file("many/deep/b.json"), "--json"]]) {
      const { code, out } = await run(...args);
      assert.equal(code, 1);
      assert.match(out, /outputSchema: the root must be an object schema/);
    }
  });

  test("a provider without limits gets the schema unchanged", async () => {
    const { code, out } = await run(file("product.json"), "--provider", "none");
    assert.equal(code, 0, out);
    assert.match(out, /"maxLength": 9/);
  });

  test("invalid arguments end with exit code 2 and the help", async () => {
    assert.equal((await run()).code, 2);
    assert.equal((await run(file("nowhere.json"))).code, 2);
    const { code, err } = await run(file("product.json"), "--provider", "acme");
    assert.equal(code, 2);
    assert.match(err, /--provider: must be one of openai, anthropic, gemini, none/);
    assert.match((await run("--help")).out, /Exit code/);
  });
});
