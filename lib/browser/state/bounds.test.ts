import assert from "node:assert/strict";
import { test } from "node:test";
import { describeLogins } from "./describe-restart.ts";
import {
  byteLength,
  COOKIES_BYTES_MAX,
  COOKIES_PART,
  type Cookie,
  chooseLeftOut,
  limitCookies,
  ORIGIN_BYTES_MAX,
  ORIGINS_MAX,
  SITE_DATA_BYTES_MAX,
} from "./site-data.ts";
import { parseStorageKey } from "./storage-key.ts";

/** Creates a reproducible generator of numbers from 0 to 1. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

test("whatever pages store, the rest is within the bounds, and only older or too large origins are left out", () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = createRandom(seed);
    const scale = [2_000, ORIGIN_BYTES_MAX / 10, ORIGIN_BYTES_MAX * 1.3][seed % 3] ?? 0;
    const parts = Array.from({ length: Math.floor(random() * 300) }, (_, index) => ({
      name: `https://${index}.example/`,
      bytes: Math.floor(random() * scale),
      usedAtMs: Math.floor(random() * 1_000),
    }));
    const cookies = { name: COOKIES_PART, bytes: Math.floor(random() * COOKIES_BYTES_MAX), usedAtMs: 0 };
    const leftOut = new Set(chooseLeftOut([cookies, ...parts]));
    const kept = parts.filter(({ name }) => !leftOut.has(name));
    const bytes = kept.reduce((sum, part) => sum + part.bytes, cookies.bytes);
    assert.ok(bytes <= SITE_DATA_BYTES_MAX && kept.length <= ORIGINS_MAX, `seed ${seed}`);
    assert.ok(kept.every((part) => part.bytes <= ORIGIN_BYTES_MAX) && !leftOut.has(COOKIES_PART));
    for (const part of parts.filter(({ name }) => leftOut.has(name))) {
      const newer = kept.filter(({ usedAtMs }) => usedAtMs >= part.usedAtMs);
      const newerBytes = newer.reduce((sum, each) => sum + each.bytes, cookies.bytes);
      const fits = newerBytes + part.bytes <= SITE_DATA_BYTES_MAX && newer.length < ORIGINS_MAX;
      assert.ok(
        part.bytes > ORIGIN_BYTES_MAX || !fits,
        `seed ${seed}: ${part.name} was left out for older ones`,
      );
    }
  }
});

test("a site that sets many cookies does not displace those of other sites", () => {
  const cookie = (domain: string, name: string, size: number) =>
    ({ domain, name, value: "x".repeat(size) }) as Cookie;
  const flood = Array.from({ length: 600 }, (_, index) => cookie("flood.example", `n${index}`, 4_000));
  const kept = limitCookies([...flood, cookie("shop.example", "session", 100), cookie("é.example", "s", 1)]);
  assert.deepEqual(
    kept.map(({ domain }) => domain),
    ["shop.example", "é.example"],
  );
  const many = Array.from({ length: 3_300 }, (_, index) => cookie(`${index}.example`, "n", index % 4_000));
  assert.ok(byteLength(JSON.stringify(limitCookies(many))) <= COOKIES_BYTES_MAX);
});

test("a storage key names the documents that have its storage", () => {
  const documents = (text: string) => parseStorageKey(text)?.documents;
  assert.deepEqual(documents("https://a.example:8443/"), ["https://a.example:8443/0"]);
  assert.deepEqual(documents("https://b.example/^0https://a.example"), [
    "https://a.example/0",
    "https://b.example/1",
  ]);
  assert.deepEqual(documents("http://a.example/^31"), [
    "http://a.example/0",
    "http://frame.invalid/1",
    "http://a.example/2",
  ]);
  for (const text of [
    "",
    "file:///",
    "https://a.example/^1123^2456",
    "https://a.example/^41^50",
    "chrome://new/",
  ])
    assert.equal(parseStorageKey(text), undefined, text);
});

test("the sentence about logins names what is missing, and not more than three origins", () => {
  assert.equal(describeLogins({ outcome: "none", lost: [] }), "no logins had been stored");
  assert.equal(describeLogins({ outcome: "failed", lost: [] }), "logins could not be restored");
  const lost = [
    "https://a.example",
    "https://a.example",
    "https://b.example",
    "https://c.example",
    "https://d.example",
  ];
  assert.equal(
    describeLogins({ outcome: "restored", lost }),
    'logins were restored, except the storage of "https://a.example", "https://b.example", "https://c.example" and 1 more',
  );
});
