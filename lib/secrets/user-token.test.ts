import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";
import { deriveUserTokenKey, mintUserToken, readUserToken, type UserToken } from "./user-token.ts";

const key = deriveUserTokenKey(randomBytes(32));
const now = new Date("2026-01-01T00:00:00Z");
const audience = "https://agent.example/api/mcp";
const token: UserToken = {
  sessionId: "ses_one",
  audience,
  holder: "other",
  keyId: "3f9c1a7be2d04856",
  expiresAt: new Date("2026-01-01T01:00:00Z"),
};
const expected = { audiences: [audience], now };
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

test("a token carries its session, audience, holder, API key and expiry", () => {
  assert.deepEqual(readUserToken(key, mintUserToken(key, token), expected), token);
});

test("a token of another agent that names no API key is refused", () => {
  assert.equal(readUserToken(key, mintUserToken(key, { ...token, keyId: null }), expected), undefined);
  const own: UserToken = { ...token, holder: "agent", keyId: null };
  assert.deepEqual(readUserToken(key, mintUserToken(key, own), expected), own);
});

test("two tokens with the same claims differ", () => {
  assert.notEqual(mintUserToken(key, token), mintUserToken(key, token));
});

test("a token for another audience is refused", () => {
  const text = mintUserToken(key, { ...token, audience: "https://elsewhere.example/mcp" });
  assert.equal(readUserToken(key, text, expected), undefined);
});

test("a token is valid until its expiry, and no longer at that time", () => {
  const text = mintUserToken(key, token);
  const justBefore = new Date(token.expiresAt.getTime() - 1);
  assert.ok(readUserToken(key, text, { ...expected, now: justBefore }));
  assert.equal(readUserToken(key, text, { ...expected, now: token.expiresAt }), undefined);
});

test("a token of another deployment's key is refused", () => {
  const text = mintUserToken(deriveUserTokenKey(randomBytes(32)), token);
  assert.equal(readUserToken(key, text, expected), undefined);
});

test("the claims of one session cannot be put under the signature of another", () => {
  const [, , mac] = mintUserToken(key, token).split(".");
  const [version, claims] = mintUserToken(key, { ...token, sessionId: "ses_two" }).split(".");
  assert.equal(readUserToken(key, `${version}.${claims}.${mac}`, expected), undefined);
});

test("a tampered or truncated token is refused, at any character", () => {
  const text = mintUserToken(key, token);
  for (let index = 0; index < text.length; index++) {
    const other = text[index] === "A" ? "B" : "A";
    const tampered = `${text.slice(0, index)}${other}${text.slice(index + 1)}`;
    assert.equal(readUserToken(key, tampered, expected), undefined, `character ${index}`);
    assert.equal(readUserToken(key, text.slice(0, index), expected), undefined, `the first ${index}`);
  }
  for (const longer of [`${text}A`, `${text}.`, `${text}=`, ` ${text}`, `${text}.${text}`])
    assert.equal(readUserToken(key, longer, expected), undefined, longer);
});

test("a token cannot choose its own algorithm", () => {
  const claims = ["ses_one", audience, "other", 4_000_000_000];
  const forged = [
    `${encode({ alg: "none" })}.${encode(claims)}.`,
    `ust1.${encode(claims)}.`,
    `none.${encode(claims)}.AAAA`,
    `ust1.${encode(claims)}.${createHmac("sha256", "")
      .update(`ust1.${encode(claims)}`)
      .digest("base64url")}`,
    "",
    "..",
    `ust1.${"A".repeat(5_000)}.AAAA`,
  ];
  for (const text of forged) assert.equal(readUserToken(key, text, expected), undefined, text.slice(0, 60));
});

test("the key differs from the deployment's secret key and from the key of its other signatures", () => {
  const secret = randomBytes(32);
  const derived = Buffer.from(deriveUserTokenKey(secret));
  assert.notDeepEqual(derived, secret);
  assert.notDeepEqual(derived, createHmac("sha256", secret).update("share-link/v1").digest());
  assert.deepEqual(derived, Buffer.from(deriveUserTokenKey(secret)));
});
