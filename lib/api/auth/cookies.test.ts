import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readLiveViewCookie, readShareCookie, shareCookies } from "./cookies.ts";
import { createLoginGate } from "./login-gate.ts";

const KEY = new Uint8Array(32).fill(7);
const pairOf = (cookie = "") => cookie.split(";")[0] ?? "";

describe("cookies under https", () => {
  test("of share links have the prefix of secure cookies, because they have a path", () => {
    const session = shareCookies("ses_a", "token", { scope: "session", expiresAt: null }, true);
    const live = shareCookies("ses_a", "token", { scope: "live-view", expiresAt: null }, true);
    assert.deepEqual([...session, ...live].map(pairOf), [
      "__Secure-share=token",
      "__Secure-share=token",
      "__Secure-live_view=token",
      "__Secure-live_view=token",
    ]);
    for (const cookie of [...session, ...live]) assert.match(cookie, /; HttpOnly; SameSite=Lax; .*; Secure$/);
  });

  test("of the operator have the prefix of one host, with the whole host as their path and no domain", () => {
    const gate = createLoginGate(KEY, true);
    const cookie = gate.redeem(gate.issueToken()) ?? "";
    assert.match(cookie, /^__Host-operator=[^;]+; Path=\/; HttpOnly; SameSite=Strict; .*; Secure$/);
    assert.doesNotMatch(cookie, /domain/i);
    assert.ok(gate.isSignedIn(pairOf(cookie)));
  });

  test("of an earlier version keep people signed in; a prefixed one wins", () => {
    const earlier = createLoginGate(KEY, false);
    const cookie = pairOf(earlier.redeem(earlier.issueToken()));
    const gate = createLoginGate(KEY, true);
    assert.ok(gate.isSignedIn(cookie));
    assert.ok(!gate.isSignedIn(`${cookie}; __Host-operator=1.forged`));
    assert.equal(readShareCookie("share=old"), "old");
    assert.equal(readShareCookie("share=planted; __Secure-share=own"), "own");
    assert.equal(readLiveViewCookie("live_view=planted; __Secure-live_view=own"), "own");
  });
});

test("cookies under http have plain names, because browsers refuse prefixes there", () => {
  const [cookie] = shareCookies("ses_a", "token", { scope: "session", expiresAt: null }, false);
  assert.equal(pairOf(cookie), "share=token");
});
