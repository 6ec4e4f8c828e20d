import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { logins as loginRows } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createLoginTokens, SIGNED_TOKEN_MINUTES } from "#lib/logins/login-tokens.ts";
import { type Account, createLogins } from "#lib/logins/logins.ts";
import { readCookie, shareCookies } from "./cookies.ts";
import { createLoginGate } from "./login-gate.ts";

const KEY = new Uint8Array(32).fill(7);
const OTHER_KEY = new Uint8Array(32);
const MINUTE_MS = 60_000;
const IDLE_MS = 60 * MINUTE_MS;
const LIFE_MS = 10 * IDLE_MS;
const account: Account = { issuer: "https://id.example", subject: "ada", email: "ada@example.com" };

const { db, close } = await openTestDatabase();
after(close);

type Options = { key?: Uint8Array; isSecure?: boolean; now?: () => number; isAllowed?: () => boolean };

/** Opens the logins and the gate of one process. Several processes share the database and the key. */
function openProcess({ key = KEY, isSecure = false, now = Date.now, isAllowed = () => true }: Options = {}) {
  const readKeys = async (keyIds: string[]) =>
    new Map(keyIds.map((keyId) => [keyId, { keyId, ownerId: "owner", scopes: [] }]));
  const logins = createLogins({ db, key, idleMs: IDLE_MS, lifeMs: LIFE_MS, isAllowed, readKeys, now });
  return { logins, gate: createLoginGate(logins, createLoginTokens(key, now), isSecure) };
}
const pairOf = (cookie: string | undefined) => cookie?.split(";")[0] ?? "";
/** Opens a clock that starts at the current time and can be advanced. */
function openClock() {
  let aheadMs = 0;
  return {
    now: () => Date.now() + aheadMs,
    advance(ms: number) {
      aheadMs += ms;
    },
  };
}

describe("the login link", () => {
  test("works once", async () => {
    const { gate } = openProcess();
    const token = gate.issueToken();
    assert.ok(await gate.redeem(token));
    assert.equal(await gate.redeem(token), undefined);
    assert.equal(await gate.redeem(""), undefined);
    assert.equal(await gate.redeem("wrong"), undefined);
    assert.equal(
      await openProcess().gate.redeem(gate.issueToken()),
      undefined,
      "an issued token works in its own process only",
    );
  });

  test("signed with the deployment's key works once across all processes, for ten minutes", async () => {
    const clock = openClock();
    const open = (key = KEY) => openProcess({ key, now: clock.now }).gate;
    const token = open().signToken();
    const both = await Promise.all([open().redeem(token), open().redeem(token)]);
    assert.equal(both.filter((cookie) => cookie !== undefined).length, 1);
    assert.equal(await open().redeem(token), undefined);

    const fresh = open().signToken();
    const [expires = "", nonce = "", signature = ""] = fresh.split(".");
    const forged = [
      `${Number(expires) + 1}.${nonce}.${signature}`,
      `${expires}.x.${signature}`,
      `${expires}.${nonce}`,
      `${fresh}.x`,
      `${fresh}x`,
    ];
    for (const wrong of forged) assert.equal(await open().redeem(wrong), undefined, wrong);
    assert.equal(await open(OTHER_KEY).redeem(fresh), undefined);
    clock.advance(SIGNED_TOKEN_MINUTES * MINUTE_MS);
    assert.equal(await open().redeem(fresh), undefined);
  });
});

describe("a login", () => {
  test("has a __Host- cookie under https, and a planted cookie without the prefix is ignored", async () => {
    const { gate } = openProcess({ isSecure: true });
    const cookie = await gate.redeem(gate.issueToken());
    assert.match(cookie ?? "", /^__Host-operator=[^;]+; Path=\/; HttpOnly; SameSite=Strict; .*; Secure$/);
    assert.doesNotMatch(cookie ?? "", /domain/i);
    assert.ok(await gate.readLogin(pairOf(cookie)));
    assert.ok(await gate.readLogin(`operator=planted; ${pairOf(cookie)}`));
    assert.equal(await gate.readLogin(pairOf(cookie).slice("__Host-".length)), undefined);
  });

  test("has an HttpOnly, SameSite=Strict cookie, survives a restart, and its token is not in the database", async () => {
    const { gate } = openProcess({ isSecure: true });
    const token = gate.issueToken();
    const cookie = await gate.redeem(token);
    assert.match(String(cookie), /; Path=\/; HttpOnly; SameSite=Strict; Max-Age=36000; Secure$/);
    assert.ok(await openProcess({ isSecure: true }).gate.readLogin(pairOf(cookie)));
    const stored = JSON.stringify(await db.select().from(loginRows));
    for (const secret of [token, pairOf(cookie).split("=")[1] ?? ""]) assert.ok(!stored.includes(secret));
  });

  test("cannot be guessed, or carried to a deployment with another key", async () => {
    const { gate } = openProcess();
    const cookie = pairOf(await gate.redeem(gate.issueToken()));
    for (const wrong of [null, "", "operator=", `${cookie}x`, cookie.slice(0, -1), cookie.toUpperCase()])
      assert.equal(await gate.readLogin(wrong), undefined, String(wrong));
    assert.equal(await openProcess({ key: OTHER_KEY }).gate.readLogin(cookie), undefined);
  });

  test("ends after the idle timeout, and after its maximum lifetime even if it is used", async () => {
    const clock = openClock();
    const { gate, logins } = openProcess({ now: clock.now });
    const idle = pairOf(await gate.redeem(gate.issueToken()));
    const used = pairOf(await gate.redeem(gate.issueToken()));
    let lastsMs = 0;
    while (await gate.readLogin(used)) {
      clock.advance(IDLE_MS - MINUTE_MS);
      lastsMs += IDLE_MS - MINUTE_MS;
      assert.ok(lastsMs <= LIFE_MS + IDLE_MS);
    }
    assert.ok(lastsMs >= LIFE_MS, `${lastsMs} ms`);
    assert.equal(await gate.readLogin(idle), undefined);
    assert.deepEqual(await logins.list(), []);
  });

  test("that is ended in one process ends in every process at once; other logins continue", async () => {
    const [here, there] = [openProcess(), openProcess()];
    const gone = pairOf(await here.gate.redeem(here.gate.issueToken(), { cookie: null, userAgent: "Gone" }));
    const other = pairOf(await here.gate.redeem(here.gate.issueToken()));
    const login = (await there.logins.list()).find(({ userAgent }) => userAgent === "Gone");
    assert.ok(login);
    assert.equal((await there.gate.readLogin(gone))?.id, login.id);
    assert.equal(await there.logins.end(login.id), true);
    assert.equal(await here.gate.readLogin(gone), undefined);
    assert.ok(await here.gate.readLogin(other));
    assert.equal(await there.logins.end(login.id), true, "ending it again changes nothing");
    assert.equal(await there.logins.end("lgn_none"), false);
  });

  test("replaces the browser's previous login", async () => {
    const { gate } = openProcess();
    const first = pairOf(await gate.redeem(gate.issueToken()));
    const second = pairOf(await gate.redeem(gate.issueToken(), { cookie: first, userAgent: null }));
    assert.equal(await gate.readLogin(first), undefined);
    assert.ok(await gate.readLogin(second));
  });

  test("of an account ends when the settings no longer allow the account", async () => {
    const cookie = pairOf(await openProcess().gate.signIn(account));
    const login = await openProcess().gate.readLogin(cookie);
    assert.deepEqual([login?.method, login?.account], ["oidc", "ada@example.com"]);
    const { gate, logins } = openProcess({ isAllowed: () => false });
    assert.equal(await gate.readLogin(cookie), undefined);
    assert.ok((await logins.list()).every(({ method }) => method === "link"));
  });

  test("of an API key ends when the key has more than 20, the longest unused first", async () => {
    const clock = openClock();
    const { gate } = openProcess({ now: clock.now });
    const open = async (cookie: string | null = null, keyId = "key_busy") => {
      clock.advance(2 * MINUTE_MS);
      return pairOf(await gate.signInWithKey(keyId, { cookie, userAgent: null }));
    };
    const isLive = async (cookie: string) => (await gate.readLogin(cookie)) !== undefined;
    const [byLink, ofOther] = [pairOf(await gate.redeem(gate.issueToken())), await open(null, "key_other")];
    const [used, unused, next] = [await open(), await open(), await open()];
    for (let count = 4; count <= 20; count++) await open();
    assert.ok(await isLive(used), "20 are not too many, and reading this one uses it");
    const latest = await open();
    assert.deepEqual([await isLive(unused), await isLive(used), await isLive(latest)], [false, true, true]);
    const again = await open(latest);
    assert.deepEqual([await isLive(latest), await isLive(again)], [false, true]);
    assert.ok(await isLive(next), "a browser that signs in again takes the place of its previous login");
    assert.ok((await isLive(byLink)) && (await isLive(ofOther)), "other logins are not affected");
  });

  test("is listed with at most 499 others, the most recently used first", async () => {
    const clock = openClock();
    const { gate, logins } = openProcess({ now: clock.now });
    // The logins of the other tests have ended by then.
    clock.advance(2 * LIFE_MS);
    const at = new Date(clock.now());
    await db.insert(loginRows).values(
      Array.from({ length: 501 }, (_, nth) => ({
        id: `lgn_many_${nth}`,
        tokenHash: `hash ${nth}`,
        method: "link" as const,
        createdAt: at,
        lastSeenAt: at,
      })),
    );
    clock.advance(MINUTE_MS);
    const newest = await gate.readLogin(pairOf(await gate.redeem(gate.issueToken())));
    const listed = await logins.list();
    assert.deepEqual([listed.length, listed[0]?.id], [500, newest?.id]);
  });

  test("is deleted from the database a day after its end", async () => {
    const clock = openClock();
    const { gate, logins } = openProcess({ now: clock.now });
    await gate.redeem(gate.issueToken());
    const ended = await gate.readLogin(pairOf(await gate.redeem(gate.issueToken())));
    await logins.end(ended?.id ?? "");
    const count = async () => (await db.select().from(loginRows)).length;
    const before = await count();
    await logins.deleteOld();
    assert.equal(await count(), before);
    // Other tests used their logins at times up to ten hours ahead. After 48 hours, those logins are old too.
    clock.advance(48 * 60 * MINUTE_MS);
    await logins.deleteOld();
    assert.equal(await count(), 0);
  });
});

describe("cookies", () => {
  test("are read by their whole name", () => {
    assert.equal(readCookie("a=1; share=x=y ; b=2", "share"), "x=y");
    assert.equal(readCookie("notshare=1; =2; share", "share"), undefined);
    assert.equal(readCookie(null, "share"), undefined);
  });

  test("of a share link are sent only to the pages and the API of its session", () => {
    const paths = shareCookies("ses_a", "t", { scope: "session", expiresAt: null }, true).map(
      (cookie) => /Path=([^;]+);.*; Secure$/.exec(cookie)?.[1],
    );
    assert.deepEqual(paths, ["/s/ses_a", "/api/sessions/ses_a"]);
  });
});
