import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PGlite } from "@electric-sql/pglite";
import { createPgliteClient, type PgliteClient } from "./pglite-client.ts";
import { createLocalPort } from "./pglite-port.ts";
import { DatabaseThreadLostError, startPgliteThread, startWorker } from "./pglite-thread.ts";

const onLost = (error: Error) => assert.fail(error);

let client: PgliteClient;
let local: PgliteClient;

before(async () => {
  client = createPgliteClient(await startPgliteThread("memory://", onLost));
  local = createPgliteClient(createLocalPort(await PGlite.create()));
});
after(() => Promise.all([client.close(), local.close()]));

const settle = (work: Promise<unknown>) =>
  work.catch((error: Error) => ({ ...error, message: error.message }));

test("the thread gives what a PGlite of the same thread gives, errors too", async () => {
  const cases: [text: string, ...params: unknown[]][] = [
    [
      "select $1::int8 as a, $2::numeric as b, $3::bool as c, $4::bytea as d",
      2n ** 60n,
      "1.5",
      true,
      new Uint8Array([0, 255]),
    ],
    [
      "select $1::text[] as t, $2::int[] as i, $3::timestamptz[] as s",
      ["a", null, 'q"'],
      [1, 2],
      [new Date(0)],
    ],
    ["select '{2026-01-01}'::date[] as d, '{{1,2},{3,4}}'::int8[] as l, '{}'::numeric[] as e"],
    ["select $1::jsonb as j", { text: "žluť 😀", list: [1, null] }],
    ["select 1 / $1::int", 0],
    ["selec 1"],
    ["select $1::int", "seven"],
  ];
  for (const [text, ...params] of cases)
    assert.deepEqual(await settle(client.query(text, params)), await settle(local.query(text, params)));
});

test("a large result and a large parameter come through whole", async () => {
  const long = "é".repeat(3_000_000);
  const large = await client.query<{ text: string; length: number }>(
    "select $1::text as text, length($1) as length",
    [long],
  );
  assert.deepEqual(large.rows, [{ text: long, length: long.length }]);
  const many = await client.query<{ n: number; text: string }>(
    "select n, repeat('x', 100) as text from generate_series(1, 50000) as n",
  );
  assert.equal(many.rows.length, 50_000);
  assert.deepEqual(many.rows.at(-1), { n: 50_000, text: "x".repeat(100) });
  assert.deepEqual((await client.query("select 1 as after")).rows, [{ after: 1 }]);
});

test("a statement may have as many parameters as Postgres takes", async () => {
  const params = Array.from({ length: 30_000 }, (_, index) => index);
  const list = params.map((index) => `($${index + 1}::int)`).join(", ");
  const { rows } = await client.query(
    `select count(*)::int as count, max(n) as max from (values ${list}) as t (n)`,
    params,
  );
  assert.deepEqual(rows, [{ count: 30_000, max: 29_999 }]);
});

test("statements are carried out in the order in which they were asked, whether they were asked before or not", async () => {
  await client.query("create table steps (id serial, name text)");
  const insert = "insert into steps (name) values ($1)";
  await client.query(insert, ["known"]);
  const asked = Array.from({ length: 40 }, (_, index) =>
    // Every other text is new, and has to be prepared first.
    client.query(index % 2 === 0 ? insert : `${insert} -- ${index}`, [`s${index}`]),
  );
  const inside = client.transaction(async (tx) => {
    await Promise.all([
      tx.query(`${insert} -- first`, ["t0"]),
      tx.query(insert, ["t1"]),
      tx.query(`${insert} -- third`, ["t2"]),
    ]);
  });
  const last = client.query(insert, ["last"]);
  await Promise.all([...asked, inside, last]);
  const { rows } = await client.query<{ name: string }>("select name from steps order by id");
  assert.deepEqual(
    rows.map(({ name }) => name),
    ["known", ...asked.map((_, index) => `s${index}`), "t0", "t1", "t2", "last"],
  );
});

test("nobody sees a transaction's halves, nor gets between its statements", async () => {
  await client.query("create table halves (id int primary key, n int not null)");
  await client.query("insert into halves values (1, 0), (2, 0)");
  const sums: unknown[] = [];
  const add = async (isKept: boolean) =>
    client
      .transaction(async (tx) => {
        await tx.query("update halves set n = n + 1 where id = $1", [1]);
        // Others have every chance to come in between.
        await new Promise(setImmediate);
        await tx.query("update halves set n = n + 1 where id = $1", [2]);
        if (!isKept) throw new Error("taken back");
      })
      .catch((error) => assert.match(String(error), /taken back/));
  const read = async () =>
    sums.push((await client.query<{ sum: number }>("select sum(n)::int as sum from halves")).rows[0]?.sum);
  await Promise.all(
    Array.from({ length: 30 }, (_, index) => (index % 3 === 0 ? read() : add(index % 3 === 1))),
  );
  assert.equal(sums.length, 10);
  assert.ok(sums.every((sum) => Number(sum) % 2 === 0));
  assert.deepEqual((await client.query("select n from halves order by id")).rows, [{ n: 10 }, { n: 10 }]);
});

test("a failed statement costs none of those that were asked with it", async () => {
  const asked = [0, 1, 0, 2].map((divisor) =>
    client.query("select 2 / $1::int as result", [divisor]).then(
      ({ rows }) => rows[0],
      (error) => error.code,
    ),
  );
  assert.deepEqual(await Promise.all(asked), ["22012", { result: 2 }, "22012", { result: 1 }]);
});

test("the event loop turns while a statement is carried out", async () => {
  let isDone = false;
  let turns = 0;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await client.query("select count(*) from generate_series(1, 300000)");
  isDone = true;
  assert.ok(turns > 10, `${turns} turns`);
});

test("a folder that is no database is told in PGlite's words, and is let go of", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "pglite-thread-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "file");
  await writeFile(file, "");
  const here = await PGlite.create(file).catch((error: unknown) => error);
  const there = await startPgliteThread(file, onLost).catch((error: unknown) => error);
  assert.ok(there instanceof Error);
  assert.equal(there.message, here instanceof Error ? here.message : String(here));
});

test("a thread that dies fails every statement and every later one, and is told once", async () => {
  const lost: Error[] = [];
  const worker = startWorker("memory://");
  const dying = await startPgliteThread("memory://", (error) => lost.push(error), worker);
  const failing = createPgliteClient(dying);
  await failing.query("select 1");
  const underWay = failing.query("select count(*) from generate_series(1, 3000000)");
  const asked = [underWay, failing.query("select 2"), failing.transaction((tx) => tx.query("select 3"))];
  await new Promise(setImmediate);
  await worker.terminate();
  const outcomes = await Promise.allSettled(asked);
  for (const outcome of outcomes) {
    assert.equal(outcome.status, "rejected");
    assert.ok(outcome.reason instanceof DatabaseThreadLostError, String(outcome.reason));
  }
  await assert.rejects(failing.query("select 4"), /the embedded database has ended; start the service again/);
  await new Promise(setImmediate);
  assert.equal(lost.length, 1);
  await failing.close();
});

const program = (body: string) => `
  const { startPgliteThread, startWorker } = await import(${JSON.stringify(new URL("pglite-thread.ts", import.meta.url).href)});
  const { createPgliteClient } = await import(${JSON.stringify(new URL("pglite-client.ts", import.meta.url).href)});
  const worker = startWorker("memory://");
  const port = await startPgliteThread("memory://", (error) => { throw error; }, worker);
  const client = createPgliteClient(port);
  ${body}
`;

async function runProgram(body: string) {
  const child = spawn(process.execPath, ["--input-type=module", "-e", program(body)], {
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => output.push(text));
  const [code] = await once(child, "close");
  return { code, output: output.join("") };
}

test("a process waits for its statement, and an idle database does not keep it", async () => {
  const ended = await runProgram(
    `console.log((await client.query("select 'answered' as word")).rows[0].word);`,
  );
  assert.deepEqual(ended, { code: 0, output: "answered\n" });
});

test("a process whose database is lost ends", async () => {
  const { code, output } = await runProgram(`
    setInterval(() => {}, 1_000);
    worker.terminate();
    await client.query("select 1").catch((error) => console.log("statement: " + error.message));
  `);
  assert.notEqual(code, 0);
  assert.match(output, /statement: the embedded database has ended/);
  assert.match(output, /DatabaseThreadLostError/);
});

test("a closed database ends its thread after what was asked before", async () => {
  const early = client.query("select 1 as one");
  const closing = client.close();
  assert.deepEqual((await early).rows, [{ one: 1 }]);
  await closing;
  await assert.rejects(client.query("select 2"), /PGlite is closed/);
});
