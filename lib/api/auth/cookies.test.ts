import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readLiveViewCookie, readShareCookie, shareCookies } from "./cookies.ts";

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

  test("with a prefix take precedence over plain ones, which an earlier version may have set", () => {
    assert.equal(readShareCookie("share=old"), "old");
    assert.equal(readShareCookie("share=planted; __Secure-share=own"), "own");
    assert.equal(readLiveViewCookie("live_view=planted; __Secure-live_view=own"), "own");
  });
});

test("cookies under http have plain names, because browsers refuse prefixes there", () => {
  const [cookie] = shareCookies("ses_a", "token", { scope: "session", expiresAt: null }, false);
  assert.equal(pairOf(cookie), "share=token");
});
