import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PGlite, type QueryOptions, type Results } from "@electric-sql/pglite";
import { type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/pglite";
import { migrate } from "drizzle-orm/pglite/migrator";
import * as schema from "../schema/index.ts";
import { migrationsFolder } from "./migrations.ts";
import { createPgliteClient, type PgliteClient } from "./pglite-client.ts";
import { createLocalPort } from "./pglite-port.ts";
import { createPgliteStatements } from "./pglite-statements.ts";

type Query = <Row>(text: string, params?: unknown[], options?: QueryOptions) => Promise<Results<Row>>;
type Client = { query: Query; transaction: PgliteClient["transaction"] };

let plain: PGlite;
let pg: PGlite;
let client: PgliteClient;

before(async () => {
  [plain, pg] = await Promise.all([PGlite.create(), PGlite.create()]);
  client = createPgliteClient(createLocalPort(pg));
  for (const each of [plain, client]) {
    await migrate(openDrizzle(each), { migrationsFolder });
    await each.query("create table marks (id serial primary key, name text unique, parent int)");
    await each.query(
      "alter table marks add foreign key (parent) references marks deferrable initially deferred",
    );
  }
});
after(() => Promise.all([plain.close(), pg.close()]));

const openDrizzle = (each: Client) => drizzle({ client: each as PGlite, schema });

/** What an error tells; where in Postgres it came from and the name of a statement are not compared. */
function readError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { file, line, routine, length, queryOptions, ...rest } = error as Error & Record<string, unknown>;
  const message = error.message.replace(/prepared statement "\w*"/, "prepared statement");
  return { ...rest, name: error.name, type: error.constructor.name, message, cause: readError(error.cause) };
}

async function settle(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (value) => ({ value }),
    (error) => ({ error: readError(error) }),
  );
}

/** Does the same on PGlite itself and on the client, and compares what comes of it. @returns the outcome. */
async function compare(work: (client: Client) => Promise<unknown>): Promise<unknown> {
  const expected = await settle(work(plain));
  // The second time the statements are prepared.
  const first = await settle(work(client));
  assert.deepEqual(first, expected);
  return first;
}

const cases: [text: string, ...params: unknown[]][] = [
  ["select 1 as one, 'two' as two, null as none, true as yes, 1.5::numeric as num, 2.5::float8 as float"],
  ["select $1::int8 as small, $2::int8 as large, $3::int2 as tiny", 7, 9_007_199_254_740_993n, -3],
  ["select $1::text as t, $2::text as u, $3::text as v", "", "žluť 😀 \u2028 'quoted' \\", "line\nbreak"],
  ["select $1::json as j, $2::jsonb as k, $3::jsonb as l", { a: [1, null] }, ["x", { y: "😀" }], "text"],
  [
    "select $1::jsonb as j",
    { big: "é".repeat(300_000), rows: Array.from({ length: 2_000 }, (_, n) => ({ n })) },
  ],
  [
    "select $1::timestamptz as t, $2::date as d, $3::timestamp as u",
    "2026-11-20T01:02:03.456Z",
    "2026-11-20",
    new Date(0),
  ],
  [
    "select $1::bytea as b, $2::bool as c, $3::uuid as u",
    new Uint8Array([0, 1, 255]),
    false,
    "8f14e45f-ceea-4a67-9d5b-1f6f3d6b6c11",
  ],
  [
    "select $1::text[] as t, $2::int[] as i, $3::int8[] as l, '{}'::text[] as e",
    ["a", null, 'q"'],
    [1, 2],
    [3],
  ],
  ["select '{2026-01-01}'::date[] as d, '{1.5,NULL}'::numeric[] as n, '1 day'::interval as i"],
  ["select $1::text as t, $2::int as i", null, undefined],
  ["select * from sessions"],
  ["select * from sessions where id = $1", "none"],
  ["select 1 as same, 2 as same"],
  ["select n, repeat('x', n) as t from generate_series(1, 500) as n"],
  [
    "insert into marks (name) select 'm' || n from generate_series(1, 3) as n on conflict do nothing returning name",
  ],
  ["update marks set name = name where name = $1", "m1"],
  ["delete from marks where name = $1", "m3"],
  ["delete from marks where name = $1 returning name", "m2"],
  [""],
  ["-- nothing"],
  ["show server_version"],
  ["do $$ begin perform 1; end $$"],
  ["explain select 1"],
  // Errors
  ["selec 1"],
  ["select * from nowhere"],
  ["select nothing from marks"],
  ["select 1; select 2"],
  ["select $1::int", "seven"],
  ["select 1 / $1::int", 0],
  ["select $1::int", 1, 2],
  ["select $1::int + $2::int", 1],
  ["insert into marks (name) values ($1)", "m1"],
  ["insert into marks (id) values ($1)", null],
  ["select $1::jsonb", "\u0000"],
  ["execute unknown_statement"],
  ["commit"],
  ["rollback"],
];

for (const [text, ...params] of cases) {
  test(`gives what PGlite gives: ${text.slice(0, 70) || "an empty text"}`, async () => {
    for (const options of [
      undefined,
      { rowMode: "array" },
      { parsers: { 25: (t: string) => `<${t}>`, 1184: String, 20: String } },
    ] as const) {
      await compare((each) => each.query(text, params, options));
      await compare((each) => each.query(text, params, options));
      await compare((each) =>
        each.transaction(async (tx) => {
          const outcome = await settle(tx.query(text, params, options));
          return [
            outcome,
            await settle(tx.query("select 1 as next")),
            await settle(tx.query(text, params, options)),
          ];
        }),
      );
    }
  });
}

test("serializers of a query come before those of PGlite", async () => {
  const options = { serializers: { 25: (value: unknown) => `(${value})` } };
  await compare((each) => each.query("select $1::text as t", ["x"], options));
  const failing = { serializers: { 25: () => assert.fail("cannot be written") } };
  await compare((each) => each.query("select $1::text as t", ["x"], failing));
  await compare((each) => each.transaction((tx) => tx.query("select $1::text as t", ["x"], failing)));
});

test("Drizzle's rows, nested transactions and errors are those on PGlite itself", async () => {
  const work = async (each: Client) => {
    const db = openDrizzle(each);
    const names = async () => (await db.execute(sql`select name from marks order by name`)).rows;
    const add = (executor: { execute: (query: SQL) => unknown }, name: string) =>
      executor.execute(sql`insert into marks (name) values (${name})`);
    const kept = await db.transaction(async (tx) => {
      await add(tx, "outer");
      const inner = await settle(
        tx.transaction(async (nested) => {
          await add(nested, "inner");
          await nested.transaction((deepest) => Promise.resolve(add(deepest, "deepest")));
          await add(nested, "outer");
        }),
      );
      await tx.transaction((nested) => Promise.resolve(add(nested, "kept")));
      return inner;
    });
    const thrown = await settle(
      db.transaction(async (tx) => {
        await add(tx, "gone");
        throw new Error("of the caller");
      }),
    );
    const taken = await settle(db.transaction((tx) => tx.rollback()));
    const isolated = await db.transaction((tx) => tx.execute(sql`show transaction_isolation`), {
      isolationLevel: "serializable",
      accessMode: "read only",
    });
    const tables = [];
    for (const table of [schema.sessions, schema.runs, schema.events])
      tables.push(await db.select().from(table));
    return [kept, thrown, taken, isolated.rows, tables, await names(), await db.query.sessions.findMany()];
  };
  await compare(work);
  await compare(async (each) => each.query("delete from marks"));
});

test("a statement that cannot be kept is told with its text", async () => {
  const text = "insert into marks (name, parent) values ($1, $2)";
  const error: unknown = await client.query(text, ["orphan", 4_711]).catch((reason) => reason);
  assert.ok(error instanceof Error);
  const { code, constraint, query, params } = error as Error & Record<string, unknown>;
  assert.deepEqual(
    { code, constraint, query, params },
    { code: "23503", constraint: "marks_parent_fkey", query: text, params: ["orphan", 4_711] },
  );
});

test("a transaction that cannot be kept is told at its end", async () => {
  await compare((each) => each.transaction((tx) => tx.query("insert into marks (parent) values (4711)")));
  await compare((each) =>
    each.transaction(async (tx) => {
      await tx.query("select 1 / 0").catch(() => {});
      return "kept";
    }),
  );
  await compare((each) => each.transaction(async () => "no statement"));
  await compare((each) => each.query("select count(*) from marks"));
  await compare(async (each) => {
    let leaked: Query | undefined;
    await each.transaction(async (tx) => {
      leaked = tx.query;
    });
    return leaked?.("select 1");
  });
});

test("statements and transactions at the same time do not see each other's halves", async () => {
  await client.query("create table counts (id int primary key, n int not null)");
  await client.query("insert into counts values (1, 0), (2, 0)");
  const seen: unknown[] = [];
  const work = Array.from({ length: 50 }, (_, index) => {
    if (index % 2 === 0)
      return client
        .query<{ n: number }>("select sum(n)::int as n from counts")
        .then(({ rows }) => seen.push(rows[0]?.n));
    const isKept = index % 3 !== 0;
    return client
      .transaction(async (tx) => {
        await Promise.all([1, 2].map((id) => tx.query("update counts set n = n + 1 where id = $1", [id])));
        await tx.query("select 1");
        if (!isKept) throw new Error("taken back");
      })
      .catch((error) => assert.match(String(error), /taken back/));
  });
  await Promise.all(work);
  assert.equal(seen.length, 25);
  assert.ok(seen.every((n) => Number(n) % 2 === 0));
  assert.deepEqual((await pg.query("select n from counts order by id")).rows, [{ n: 17 }, { n: 17 }]);
});

test("a statement that nobody waits for still belongs to its transaction", async () => {
  let late: Promise<unknown> | undefined;
  await client.transaction(async (tx) => {
    late = tx.query("insert into marks (name) values ('late')");
  });
  await late;
  assert.equal((await pg.query("select pg_current_xact_id_if_assigned() as xid")).rows.length, 1);
  assert.equal(pg.isInTransaction(), false);
  assert.equal((await client.query("delete from marks where name = 'late'")).affectedRows, 1);
});

test("statements go on after the tables have changed", async () => {
  await client.query("create table changing (a int)");
  await client.query("insert into changing values (1)");
  const read = (executor: { query: Query } = client) => executor.query("select * from changing");
  assert.deepEqual((await read()).rows, [{ a: 1 }]);

  await client.query("alter table changing add column b text");
  assert.deepEqual((await client.transaction((tx) => read(tx))).rows, [{ a: 1, b: null }]);

  await assert.rejects(
    client.transaction(async (tx) => {
      await tx.query("alter table changing alter column a type text");
      assert.deepEqual((await read(tx)).rows, [{ a: "1", b: null }]);
      throw new Error("taken back");
    }),
    /taken back/,
  );
  assert.deepEqual((await client.transaction((tx) => read(tx))).rows, [{ a: 1, b: null }]);

  await client.transaction(async (tx) => {
    await tx.query("savepoint before");
    await tx.query("alter table changing rename column b to c");
    assert.deepEqual((await read(tx)).rows, [{ a: 1, c: null }]);
    await tx.query("rollback to savepoint before");
    assert.deepEqual((await read(tx)).rows, [{ a: 1, b: null }]);
  });

  // Past the client, which then only finds out from the database.
  await pg.exec("alter table changing drop column b");
  assert.deepEqual((await read()).rows, [{ a: 1 }]);
  await pg.exec("deallocate all");
  assert.deepEqual((await read()).rows, [{ a: 1 }]);
});

test("as many statements stay prepared as may, and those of many lengths cost none their place for good", async () => {
  const own = createPgliteClient(createLocalPort(pg), createPgliteStatements({ limit: 5, longest: 200 }));
  await pg.exec("deallocate all");
  for (let length = 1; length <= 120; length += 1) {
    const list = Array.from({ length }, (_, index) => `$${index + 1}::int`).join(", ");
    const { rows } = await own.query<{ n: number }>(
      `select count(*)::int as n from generate_series(1, 200) as s where s in (${list})`,
      Array.from({ length }, (_, index) => index + 1),
    );
    assert.deepEqual(rows, [{ n: length }]);
    await own.query("select 'often'");
  }
  const { rows } = await pg.query<{ statement: string }>("select statement from pg_prepared_statements");
  assert.ok(rows.length <= 6, `${rows.length} are prepared`);
  assert.ok(rows.some(({ statement }) => statement === "select 'often'"));
});

test("a plan is made anew once there are many more rows than it was made for", async () => {
  await client.query("create table growing (id int primary key, name text)");
  await client.query("insert into growing values (1, 'n1')");
  await client.query("analyze growing");
  const text = "select name from growing where id = $1";
  const read = async () => assert.deepEqual((await client.query(text, [1])).rows, [{ name: "n1" }]);
  const explain = async () => {
    const named = "select name from pg_prepared_statements where statement = $1";
    const name = (await pg.query<{ name: string }>(named, [text])).rows[0]?.name;
    return JSON.stringify((await pg.query(`explain execute ${name} (1)`)).rows);
  };
  for (let round = 0; round < 8; round += 1) await read();
  await pg.query("insert into growing select n, 'n' || n from generate_series(2, 20000) as n");
  await read();
  assert.match(await explain(), /Seq Scan/);
  for (let round = 0; round < 8; round += 1)
    await client.query("update growing set name = name where id < 40");
  await read();
  assert.match(await explain(), /Index Scan/);
});

test("notices are told", async () => {
  const notices: unknown[] = [];
  const onNotice = (notice: { message: string | undefined }) => notices.push(notice.message);
  await client.query("do $$ begin raise notice 'heard'; end $$", [], { onNotice });
  assert.deepEqual(notices, ["heard"]);
});

test("a closed database takes no statement, and those before the end are carried out", async () => {
  const ending = createPgliteClient(createLocalPort(await PGlite.create()));
  const early = ending.query("select 1 as one");
  const underWay = ending.transaction(async (tx) => {
    await tx.query("select 1");
    return (await tx.query("select 2 as two")).rows;
  });
  const closing = ending.close();
  const late = settle(ending.query("select 2"));
  assert.deepEqual((await early).rows, [{ one: 1 }]);
  assert.deepEqual(await underWay, [{ two: 2 }]);
  await closing;
  assert.match(JSON.stringify(await late), /PGlite is closed/);
  await assert.rejects(ending.query("select 3"), /PGlite is closed/);
  await assert.rejects(
    ending.transaction(async () => {}),
    /PGlite is closed/,
  );
});
