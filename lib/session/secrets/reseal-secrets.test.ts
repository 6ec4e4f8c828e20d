import assert from "node:assert/strict";
import { createCipheriv, randomBytes } from "node:crypto";
import { after, beforeEach, test } from "node:test";
import { and, eq, is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import * as schema from "#db/schema/index.ts";
import { browserHosts, sealedSecrets, sessions, siteData } from "#db/schema/index.ts";
import { openTestDatabase, sessionRow } from "#db/testing.ts";
import { createSealer, type Sealer } from "#lib/secrets/sealer.ts";
import { SEALED_COLUMNS } from "../store/secret-store.ts";
import { resealSecrets } from "./reseal-secrets.ts";
import {
  CALLBACK_SECRET,
  CALLBACK_URL,
  nameMcpUrl,
  placeHostToken,
  placeSecret,
  placeSiteData,
} from "./secret-names.ts";

const { db, close } = await openTestDatabase();
after(close);
const [oldKey, newKey, lostKey] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const before = createSealer(oldKey);
const rotated = createSealer(newKey, [oldKey]);

beforeEach(async () => {
  await db.delete(sessions);
  await db.delete(browserHosts);
});

/** Stores sessions with one secret each, `secret of <id>`. */
async function seed(sealer: Sealer, ...ids: string[]): Promise<void> {
  await db.insert(sessions).values(ids.map((id) => sessionRow({ id })));
  await db.insert(sealedSecrets).values(
    ids.map((sessionId) => ({
      sessionId,
      name: CALLBACK_SECRET,
      sealed: sealer.seal(placeSecret(sessionId, CALLBACK_SECRET), `secret of ${sessionId}`),
    })),
  );
}

async function readSecret(sealer: Sealer, sessionId: string, name = CALLBACK_SECRET): Promise<string> {
  const [row] = await db
    .select()
    .from(sealedSecrets)
    .where(and(eq(sealedSecrets.sessionId, sessionId), eq(sealedSecrets.name, name)));
  return sealer.open(placeSecret(sessionId, name), row?.sealed ?? "");
}

/** Calls `resealSecrets` until it has processed all secrets. @returns the outcome of each call. */
async function resealAll(sealer: Sealer, options: { partMs: number; batch: number }) {
  const parts = [await resealSecrets({ db, sealer }, undefined, options)];
  for (;;) {
    const cursor = parts.at(-1)?.nextCursor;
    if (typeof cursor !== "string") return parts;
    parts.push(await resealSecrets({ db, sealer }, cursor, options));
  }
}

test("every value is resealed in bounded parts, and each part reports how many are left", async () => {
  const ids = ["ses_a", "ses_b", "ses_c", "ses_d", "ses_e"];
  await seed(before, ...ids);
  await seed(rotated, "ses_new");
  const parts = await resealAll(rotated, { partMs: 0, batch: 2 });
  assert.deepEqual(
    parts.map(({ resealed, remaining, unreadable }) => [resealed, remaining, unreadable]),
    // The first call only searches for URLs, so it reseals nothing.
    [
      [0, 5, 0],
      [2, 3, 0],
      [2, 1, 0],
      [1, 0, 0],
      // The last calls only search for site data and for tokens of browser hosts.
      [0, 0, 0],
      [0, 0, 0],
    ],
  );
  const alone = createSealer(newKey);
  for (const id of [...ids, "ses_new"]) assert.equal(await readSecret(alone, id), `secret of ${id}`);
  const again = await resealSecrets({ db, sealer: rotated });
  assert.deepEqual(again, { resealed: 0, unreadable: 0, remaining: 0, nextCursor: null });
});

test("site data of browsers is resealed too, a few rows at a time", async () => {
  await seed(before, "ses_a");
  const names = [
    "cookies",
    "https://a.example/",
    "https://b.example/",
    "https://c.example/",
    "https://d.example/",
  ];
  await db.insert(siteData).values(
    names.map((name) => ({
      sessionId: "ses_a",
      name,
      sealed: before.seal(placeSiteData("ses_a", name), `data of ${name}`),
      sizeBytes: 1,
      usedAt: new Date(),
    })),
  );
  const parts = await resealAll(rotated, { partMs: 0, batch: 200 });
  assert.deepEqual(
    parts.map(({ resealed, remaining }) => [resealed, remaining]),
    [
      [0, 6],
      [1, 5],
      [4, 1],
      [1, 0],
      [0, 0],
    ],
  );
  const alone = createSealer(newKey);
  const rows = await db.select().from(siteData);
  assert.deepEqual(
    rows.map(({ name, sealed }) => alone.open(placeSiteData("ses_a", name), sealed)).sort(),
    names.map((name) => `data of ${name}`).sort(),
  );
});

test("tokens of browser hosts are resealed too; a host without a token has nothing to reseal", async () => {
  const host = {
    home: "local",
    url: "ws://127.0.0.1:1",
    protocol: 1,
    places: 1,
    leaseUntil: new Date(),
  } as const;
  const sealedToken = before.seal(placeHostToken("bh_old"), "the token");
  await db.insert(browserHosts).values([
    { ...host, id: "bh_old", sealedToken },
    { ...host, id: "bh_own", sealedToken: "" },
  ]);
  const outcome = await resealSecrets({ db, sealer: rotated });
  assert.deepEqual(outcome, { resealed: 1, unreadable: 0, remaining: 0, nextCursor: null });
  const [row] = await db.select().from(browserHosts).where(eq(browserHosts.id, "bh_old"));
  assert.equal(createSealer(newKey).open(placeHostToken("bh_old"), row?.sealedToken ?? ""), "the token");
});

test("every column with sealed values is resealed", () => {
  const inSchema = Object.values(schema).flatMap((table) =>
    is(table, PgTable)
      ? getTableConfig(table).columns.flatMap(({ name }) =>
          /seal|encrypt|cipher/.test(name) ? [`${getTableConfig(table).name}.${name}`] : [],
        )
      : [],
  );
  const resealed = Object.values(SEALED_COLUMNS).map(
    ({ table, sealed }) => `${getTableConfig(table).name}.${sealed.name}`,
  );
  assert.deepEqual(inSchema.sort(), resealed.sort());
});

test("after an interruption, the next run starts from the beginning and reseals the rest", async () => {
  await seed(before, "ses_a", "ses_b", "ses_c");
  const urls = await resealSecrets({ db, sealer: rotated }, undefined, { partMs: 0, batch: 2 });
  await resealSecrets({ db, sealer: rotated }, urls.nextCursor ?? "", { partMs: 0, batch: 2 });
  const rest = await resealSecrets({ db, sealer: rotated });
  assert.deepEqual([rest.resealed, rest.remaining], [1, 0]);
});

test("concurrent runs reseal each value once, and do not overwrite a concurrent change", async () => {
  await seed(before, "ses_a", "ses_b", "ses_c", "ses_d");
  const writing = db
    .update(sealedSecrets)
    .set({ sealed: rotated.seal(placeSecret("ses_b", CALLBACK_SECRET), "rotated meanwhile") })
    .where(eq(sealedSecrets.sessionId, "ses_b"));
  const [, one, two] = await Promise.all([
    writing,
    resealSecrets({ db, sealer: rotated }),
    resealSecrets({ db, sealer: rotated }),
  ]);
  assert.ok(one.resealed + two.resealed <= 4);
  assert.equal((await resealSecrets({ db, sealer: rotated })).remaining, 0);
  assert.equal(await readSecret(createSealer(newKey), "ses_b"), "rotated meanwhile");
  for (const id of ["ses_a", "ses_c", "ses_d"])
    assert.equal(await readSecret(createSealer(newKey), id), `secret of ${id}`);
});

test("a value sealed with an unknown key is not changed and is counted", async () => {
  await seed(createSealer(lostKey), "ses_lost");
  await seed(before, "ses_a");
  const outcome = await resealSecrets({ db, sealer: rotated });
  assert.deepEqual(outcome, { resealed: 1, unreadable: 1, remaining: 1, nextCursor: null });
  assert.equal(await readSecret(createSealer(lostKey), "ses_lost"), "secret of ses_lost");
});

test("a value without a key id is resealed, even if the key is current", async () => {
  await seed(before, "ses_a");
  const place = placeSecret("ses_a", CALLBACK_SECRET);
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", oldKey, nonce).setAAD(
    Buffer.from(JSON.stringify(["v1", place.table, place.row, place.column])),
  );
  const body = Buffer.concat([cipher.update("old", "utf8"), cipher.final()]);
  const sealed = ["v1", ...[nonce, cipher.getAuthTag(), body].map((part) => part.toString("base64url"))];
  await db.update(sealedSecrets).set({ sealed: sealed.join(".") });
  assert.equal((await resealSecrets({ db, sealer: before })).resealed, 1);
  const [row] = await db.select().from(sealedSecrets);
  assert.ok(row?.sealed.startsWith(before.currentPrefix));
  assert.equal(await readSecret(before, "ses_a"), "old");
});

test("tokens in unsealed URLs of old sessions are sealed, and masked in the row", async () => {
  const full = { callback: "https://hooks.example/in?token=abc", crm: "https://crm.example/mcp?key=def" };
  await db.insert(sessions).values([
    sessionRow({
      id: "ses_old",
      callbackUrl: full.callback,
      callbackEvents: ["run.completed"],
      mcpServers: {
        crm: { url: full.crm, type: "http" },
        plain: { url: "https://plain.example/", type: "sse" },
      },
    }),
    sessionRow({ id: "ses_plain" }),
  ]);
  assert.equal((await resealSecrets({ db, sealer: rotated })).resealed, 2);
  const [row] = await db.select().from(sessions).where(eq(sessions.id, "ses_old"));
  assert.equal(row?.callbackUrl, "https://hooks.example/in?token=***");
  assert.deepEqual(row?.mcpServers, {
    crm: { url: "https://crm.example/mcp?key=***", type: "http" },
    plain: { url: "https://plain.example/", type: "sse" },
  });
  assert.equal(await readSecret(rotated, "ses_old", CALLBACK_URL), full.callback);
  assert.equal(await readSecret(rotated, "ses_old", nameMcpUrl("crm")), full.crm);
  assert.equal((await resealSecrets({ db, sealer: rotated })).resealed, 0, "once");
});
