import assert from "node:assert/strict";
import { createCipheriv, randomBytes } from "node:crypto";
import { test } from "node:test";
import { createSealer, type SecretPlace } from "./sealer.ts";

const place: SecretPlace = { table: "sealed_secrets", row: "ses_one", column: "callback.secret" };
const [first, second, third] = [randomBytes(32), randomBytes(32), randomBytes(32)];

/** Seals a value in the format of version 1, which has no key id. */
function sealVersion1(key: Uint8Array, text: string): string {
  const nonce = randomBytes(12);
  const associated = JSON.stringify(["v1", place.table, place.row, place.column]);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(associated));
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return ["v1", ...[nonce, cipher.getAuthTag(), body].map((part) => part.toString("base64url"))].join(".");
}

test("a sealed value carries the id of its key, and reveals neither the key nor the text", () => {
  const [sealer, other] = [createSealer(first), createSealer(second)];
  const sealed = sealer.seal(place, "shh");
  assert.match(sealed, /^v2\.[0-9a-f]{16}\.[\w-]{16}\.[\w-]{22}\.[\w-]+$/);
  assert.ok(sealed.startsWith(sealer.currentPrefix));
  assert.ok(sealer.seal(place, "shh") !== sealed, "each value has a nonce of its own");
  assert.notEqual(sealer.currentPrefix, other.currentPrefix);
  assert.ok(!sealed.includes(Buffer.from(first).toString("hex").slice(0, 8)) && !sealed.includes("shh"));
});

test("a value opens only with the key that sealed it, which may be the current or a previous key", () => {
  const sealed = createSealer(first).seal(place, "Ö secret");
  assert.equal(createSealer(first).open(place, sealed), "Ö secret");
  assert.equal(createSealer(second, [third, first]).open(place, sealed), "Ö secret");
  assert.throws(
    () => createSealer(second, [third]).open(place, sealed),
    /sealed with the key [0-9a-f]{16}, which is not/,
  );
});

test("a new value is sealed with the current key", () => {
  const rotated = createSealer(second, [first]);
  const sealed = rotated.seal(place, "new");
  assert.equal(createSealer(second).open(place, sealed), "new");
  assert.throws(() => createSealer(first).open(place, sealed));
});

test("values without a key id open, also after a rotation", () => {
  const sealed = sealVersion1(first, "old");
  assert.equal(createSealer(first).open(place, sealed), "old");
  assert.equal(createSealer(second, [third, first]).open(place, sealed), "old");
  assert.ok(!sealed.startsWith(createSealer(first).currentPrefix));
  assert.throws(() => createSealer(second, [third]).open(place, sealed));
});

test("a value opens only at its place, unmodified and with its own key id", () => {
  const sealer = createSealer(first, [second]);
  const sealed = sealer.seal(place, "shh");
  for (const elsewhere of [
    { ...place, row: "ses_two" },
    { ...place, column: "x" },
    { ...place, table: "x" },
  ])
    assert.throws(() => sealer.open(elsewhere, sealed));
  const parts = sealed.split(".");
  for (let at = 2; at < parts.length; at++) {
    const bytes = Buffer.from(parts[at] ?? "", "base64url");
    bytes[0] = (bytes[0] ?? 0) ^ 1;
    const tampered = parts.with(at, bytes.toString("base64url")).join(".");
    assert.throws(() => sealer.open(place, tampered), `part ${at}`);
  }
  const other = createSealer(second).currentPrefix.split(".")[1] ?? "";
  assert.throws(() => sealer.open(place, parts.with(1, other).join(".")));
  for (const text of ["", "v2", "v1", "v3.a.b.c.d", parts.slice(0, 4).join("."), "v1..."])
    assert.throws(() => sealer.open(place, text), text);
});

test("a key that is not 32 bytes is refused, current or previous", () => {
  assert.throws(() => createSealer(randomBytes(31)), /must be 32 bytes/);
  assert.throws(() => createSealer(first, [randomBytes(33)]), /must be 32 bytes/);
});

test("a hash is the same for the same values only, and depends on the current key and on its use", () => {
  const sealer = createSealer(first, [second]);
  const hash = sealer.hash("use", ["ada", null]);
  assert.equal(createSealer(first).hash("use", ["ada", null]), hash);
  assert.match(hash, /^[\w-]{43}$/);
  const others = [
    sealer.hash("other", ["ada", null]),
    createSealer(second, [first]).hash("use", ["ada", null]),
    ...[["ada"], ["ada", ""], ["ada", "null"], ["a", "da"], [null, "ada"]].map((values) =>
      sealer.hash("use", values),
    ),
  ];
  assert.equal(new Set([hash, ...others]).size, others.length + 1);
});
