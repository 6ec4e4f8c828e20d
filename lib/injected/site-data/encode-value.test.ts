import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeValue, type EncodedValue, encodeValue } from "./encode-value.ts";

const throughJson = (value: unknown): unknown =>
  decodeValue(JSON.parse(JSON.stringify(encodeValue(value).encoded)) as EncodedValue);

test("structured values are the same after they were encoded as JSON and decoded", () => {
  const sparse = ["a", undefined, "c"];
  delete sparse[1];
  const values: unknown[] = [
    null,
    undefined,
    true,
    "Ünïcode \ud83d\ude00 \u0000",
    [0, -0, Number.NaN, Number.POSITIVE_INFINITY, 1e300, 12n],
    new Date(86_400_000),
    /a+b/giu,
    sparse,
    Object.assign([1, 2], { extra: "named" }),
    { nested: { list: [{ deep: new Map<unknown, unknown>([[{ key: 1 }, new Set(["x", null])]]) }] } },
    new Uint16Array([1, 65_535]),
    new DataView(new Uint8Array([9, 8, 7, 6]).buffer, 1, 2),
    new Uint8Array(100_000).fill(7).buffer,
    new RangeError("too far"),
    [Object("text"), Object(7), Object(false)],
    ["date", 5],
  ];
  for (const value of values) {
    const decoded = throughJson(value);
    if (value instanceof Error) assert.deepEqual(String(decoded), String(value));
    else assert.deepStrictEqual(decoded, value);
  }
  assert.ok(Number.isNaN((throughJson(new Date(Number.NaN)) as Date).getTime()));
  assert.ok(!(1 in (throughJson(sparse) as unknown[])), "a hole stays a hole");
});

test("objects that occur twice stay one object, also in cycles, and views share their buffer", () => {
  const person: Record<string, unknown> = { name: "Ada" };
  person.self = person;
  const bytes = new Uint8Array([1, 2, 3, 4]);
  const decoded = throughJson({ person, again: person, views: [bytes, bytes.subarray(2)] }) as {
    person: { self: unknown };
    again: unknown;
    views: Uint8Array[];
  };
  assert.equal(decoded.person.self, decoded.person);
  assert.equal(decoded.again, decoded.person);
  assert.equal(decoded.views[0]?.buffer, decoded.views[1]?.buffer);
  assert.deepEqual([...(decoded.views[1] ?? [])], [3, 4]);
});

test("a field named __proto__ is a field, and does not become the prototype", () => {
  const value = JSON.parse('{"__proto__": {"isAdmin": true}}') as object;
  const decoded = throughJson(value) as { isAdmin?: boolean };
  assert.equal(decoded.isAdmin, undefined);
  assert.deepEqual(Object.keys(decoded), ["__proto__"]);
});

test("the bytes of blobs and files are filled in", async () => {
  const { encoded, blobs } = encodeValue([
    new Blob(["hi"], { type: "text/plain" }),
    new File(["f"], "a.txt"),
  ]);
  assert.equal(blobs.length, 2);
  for (const { blob, fill } of blobs) fill(Buffer.from(await blob.arrayBuffer()).toString("base64"));
  const [blob, file] = decodeValue(JSON.parse(JSON.stringify(encoded)) as EncodedValue) as [Blob, File];
  assert.deepEqual([await blob.text(), blob.type], ["hi", "text/plain"]);
  assert.deepEqual([await file.text(), file.name], ["f", "a.txt"]);
});

test("values without an encoding, and values nested too deeply, are refused", async () => {
  const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, false, ["encrypt"]);
  let deep: unknown = 0;
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep];
  for (const value of [{ key }, [new URL("https://a.example/")], deep, () => {}, Symbol("s")])
    assert.throws(() => encodeValue(value));
});
