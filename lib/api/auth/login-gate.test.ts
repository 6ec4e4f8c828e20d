import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readCookie, shareCookies } from "./cookies.ts";
import { createLoginGate, SIGNED_TOKEN_MINUTES } from "./login-gate.ts";

const KEY = new Uint8Array(32).fill(7);
const pairOf = (cookie: string | undefined) => cookie?.split(";")[0] ?? null;

describe("the login link", () => {
  test("works once", () => {
    const gate = createLoginGate(KEY, false);
    const token = gate.issueToken();
    assert.ok(gate.redeem(token));
    assert.equal(gate.redeem(token), undefined);
    assert.equal(gate.redeem(""), undefined);
    assert.equal(gate.redeem("wrong"), undefined);
  });

  test("signed with the deployment's key works once in each of its processes, for ten minutes", () => {
    let now = 1_000;
    const open = (key = KEY) => createLoginGate(key, false, () => now);
    const token = open().signToken();
    const gate = open();
    assert.ok(gate.redeem(token));
    assert.equal(gate.redeem(token), undefined);
    assert.ok(open().redeem(token));
    const [expires = "", nonce = "", signature = ""] = token.split(".");
    const forged = [
      `${Number(expires) + 1}.${nonce}.${signature}`,
      `${expires}.x.${signature}`,
      `${expires}.${nonce}`,
    ];
    for (const wrong of [...forged, `${token}x`]) assert.equal(open().redeem(wrong), undefined, wrong);
    assert.equal(open(new Uint8Array(32)).redeem(token), undefined);
    now += SIGNED_TOKEN_MINUTES * 60_000;
    assert.equal(open().redeem(token), undefined);
  });

  test("becomes an HttpOnly, SameSite=Strict cookie that survives a restart for 30 days", () => {
    let now = 0;
    const gate = createLoginGate(KEY, true, () => now);
    const cookie = gate.redeem(gate.issueToken());
    assert.match(String(cookie), /; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000; Secure$/);
    const restarted = createLoginGate(KEY, true, () => now);
    assert.ok(restarted.isSignedIn(pairOf(cookie)));
    now += 30 * 86_400_000;
    assert.ok(!restarted.isSignedIn(pairOf(cookie)));
  });

  test("cannot be forged, prolonged or carried to another deployment", () => {
    const gate = createLoginGate(KEY, false);
    const cookie = pairOf(gate.redeem(gate.issueToken())) ?? "";
    const [expires = "", signature = ""] = cookie.replace("operator=", "").split(".");
    for (const forged of [
      null,
      "",
      "operator=",
      `operator=${Number(expires) + 1}.${signature}`,
      `operator=${expires}.${signature.slice(1)}`,
      `operator=${expires}`,
      `operator=Infinity.${signature}`,
    ])
      assert.ok(!gate.isSignedIn(forged), String(forged));
    assert.ok(!createLoginGate(new Uint8Array(32), false).isSignedIn(cookie));
  });
});

describe("cookies", () => {
  test("are read by their whole name", () => {
    assert.equal(readCookie("a=1; share=x=y ; b=2", "share"), "x=y");
    assert.equal(readCookie("notshare=1; =2; share", "share"), undefined);
    assert.equal(readCookie(null, "share"), undefined);
  });

  test("of a share link reach its session's pages and data alone", () => {
    const paths = shareCookies("ses_a", "t", { scope: "session", expiresAt: null }, true).map(
      (cookie) => /Path=([^;]+);.*; Secure$/.exec(cookie)?.[1],
    );
    assert.deepEqual(paths, ["/s/ses_a", "/api/sessions/ses_a"]);
  });
});
