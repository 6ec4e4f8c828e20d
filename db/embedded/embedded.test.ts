import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import {
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { sql } from "drizzle-orm";
import type { OpenDatabase } from "../client.ts";
import { openPostgres } from "../drivers/postgres.ts";
import { isConnectionLost } from "../unavailability.ts";
import { DataFolderError } from "./data-folder.ts";
import { DatabaseLockedError } from "./lock-folder.ts";
import { type EmbeddedOptions, openEmbedded } from "./open-embedded.ts";
import { prepareSocket } from "./socket.ts";

let dataDir: string;
let opened: OpenDatabase[] = [];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "embedded-"));
});
afterEach(async () => {
  for (const database of opened) await database.close();
  opened = [];
  await rm(dataDir, { recursive: true, force: true });
});

async function open(options: Partial<EmbeddedOptions> = {}): Promise<OpenDatabase> {
  const database = await openEmbedded({ dataDir, ...options });
  opened.push(database);
  return database;
}

const folder = () => join(dataDir, "postgres");
const serverPid = async () => Number.parseInt(await readFile(join(folder(), "postmaster.pid"), "utf8"), 10);
const read = async <Row>({ db }: OpenDatabase, query: ReturnType<typeof sql>) =>
  ((await db.execute(query)) as unknown as { rows: Row[] }).rows;

/** Whether a process is running. A zombie does not count, because only its exit status is left. */
function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

async function waitUntil(isTrue: () => Promise<boolean> | boolean, what: string): Promise<void> {
  const deadline = performance.now() + 90_000;
  while (!(await isTrue())) {
    assert.ok(performance.now() < deadline, `waited for: ${what}`);
    await sleep(10);
  }
}

/** Repeats a read until the server answers. Until then, the read may fail only because its connection was lost. */
async function readWhenBack(database: OpenDatabase, query: ReturnType<typeof sql>): Promise<unknown[]> {
  let rows: unknown[] | undefined;
  await waitUntil(async () => {
    try {
      rows = await read(database, query);
    } catch (error) {
      assert.ok(isConnectionLost(error), inspect(error));
    }
    return rows !== undefined;
  }, "the server answers again");
  return rows ?? [];
}

const WRITER = `
  const { sql } = await import("drizzle-orm");
  const { openEmbedded } = await import(${JSON.stringify(new URL("open-embedded.ts", import.meta.url).href)});
  const { db } = await openEmbedded({ dataDir: process.env.DATA_DIR });
  await db.execute(sql\`create table written (n int primary key, is_half boolean not null)\`);
  for (let n = 0; ; n += 1) {
    await db.transaction(async (tx) => {
      await tx.execute(sql\`insert into written values (\${n}, true)\`);
      await tx.execute(sql\`update written set is_half = false where n = \${n}\`);
    });
    process.stdout.write(n + "\\n");
  }
`;

/**
 * Starts a process that writes rows to the embedded database, and waits until it has acknowledged at least `rows` rows.
 */
async function startWriter(rows: number): Promise<{ child: ChildProcess; acknowledged: () => number }> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", WRITER], {
    cwd: import.meta.dirname,
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let acknowledged = -1;
  createInterface({ input: child.stdout as NonNullable<typeof child.stdout> }).on("line", (line) => {
    acknowledged = Number(line);
  });
  await waitUntil(() => acknowledged >= rows, `${rows} rows are acknowledged`);
  return { child, acknowledged: () => acknowledged };
}

async function expectAllRows(acknowledged: number): Promise<void> {
  const rows = await read<{ n: number; is_half: boolean }>(
    await open(),
    sql`select n, is_half from written order by n`,
  );
  assert.ok(rows.length > acknowledged, `${rows.length} rows of ${acknowledged + 1}`);
  assert.deepEqual(
    rows,
    rows.map((_, n) => ({ n, is_half: false })),
  );
}

describe("the embedded Postgres", () => {
  it("creates all tables in an empty folder, keeps rows after a restart, and is closed to other users", async () => {
    const first = await open();
    assert.deepEqual(await read(first, sql`select count(*)::int as n from sessions`), [{ n: 0 }]);
    await first.db.execute(sql`create table stored as select 42 as answer`);
    const pid = await serverPid();
    await first.close();
    assert.equal(isAlive(pid), false);
    assert.equal((await stat(folder())).mode & 0o777, 0o700);
    assert.deepEqual(await read(await open(), sql`select answer from stored`), [{ answer: 42 }]);
  });

  it("runs with durable commits, checksums, a built-in locale, and no network", async () => {
    const database = await open();
    const rows = await read<{ name: string; setting: string }>(
      database,
      sql`select name, setting from pg_settings where name in
        ('fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums', 'listen_addresses', 'server_encoding')`,
    );
    assert.deepEqual(Object.fromEntries(rows.map(({ name, setting }) => [name, setting])), {
      data_checksums: "on",
      fsync: "on",
      full_page_writes: "on",
      listen_addresses: "",
      server_encoding: "UTF8",
      synchronous_commit: "on",
    });
    const sorted = await read<{ word: string }>(
      database,
      sql`select word from unnest(array['b', 'a', 'B', 'ä']) as word order by word`,
    );
    assert.deepEqual(
      sorted.map(({ word }) => word),
      ["B", "a", "b", "ä"],
    );
  });

  it("belongs to one service: a second open is refused with the process id of the first", async () => {
    await open();
    await assert.rejects(openEmbedded({ dataDir }), (error) => {
      assert.ok(error instanceof DatabaseLockedError);
      return error.message.includes(`process ${process.pid};`);
    });
  });

  for (const name of ["a path with spaces", `a long path ${"x".repeat(120)}`])
    it(`works below ${name.slice(0, 18)}`, async () => {
      const below = join(dataDir, name);
      assert.deepEqual(await read(await open({ dataDir: below }), sql`select 1 as one`), [{ one: 1 }]);
    });
});

describe("after the death of its service", () => {
  it("the server stops, and every acknowledged row is complete", async () => {
    const { child, acknowledged } = await startWriter(200);
    const pid = await serverPid();
    child.kill("SIGKILL");
    await waitUntil(() => !isAlive(pid), "the server has stopped");
    await expectAllRows(acknowledged());
  });

  it("a page that was half written in the crash is repaired from the write-ahead log", async () => {
    const { child, acknowledged } = await startWriter(200);
    const visitor = await openPostgres({ url: (await prepareSocket(folder())).url, onError() {} });
    await visitor.db.execute(sql`checkpoint`);
    const [table] = await read<{ path: string; pages: number }>(
      visitor,
      sql`select pg_relation_filepath('written') as path,
        (pg_relation_size('written') / current_setting('block_size')::int)::int as pages`,
    );
    await visitor.close();
    assert.ok(table && table.pages > 0);
    const checkpointed = acknowledged();
    await waitUntil(() => acknowledged() > checkpointed + 20, "rows are written into the last page again");
    const pid = await serverPid();
    await killGuard(pid);
    process.kill(pid, "SIGKILL");
    child.kill("SIGKILL");
    await once(child, "exit");

    const file = await openFile(join(folder(), table.path), "r+");
    await file.write(Buffer.alloc(4_096), 0, 4_096, table.pages * 8_192 - 4_096);
    await file.close();
    await expectAllRows(acknowledged());
  });

  it("a server that is still running is stopped by the next start", async () => {
    const { child, acknowledged } = await startWriter(50);
    const pid = await serverPid();
    await killGuard(pid);
    child.kill("SIGKILL");
    await once(child, "exit");
    assert.ok(isAlive(pid), "the server is still running");
    await expectAllRows(acknowledged());
    assert.equal(isAlive(pid), false);
  });

  it("an unrelated process that now has the old server's process id is not ended", async () => {
    await (await open()).close();
    opened = [];
    const unrelated = spawn("sleep", ["60"]);
    for (const name of ["postmaster.pid", ".s.PGSQL.5432.lock"])
      await writeFile(join(folder(), name), `${unrelated.pid}\n${folder()}\n`);
    try {
      assert.deepEqual(await read(await open(), sql`select 1 as one`), [{ one: 1 }]);
      assert.equal(unrelated.exitCode ?? unrelated.signalCode, null);
    } finally {
      unrelated.kill();
    }
  });
});

/**
 * Kills the guard process, so that the server continues after its service dies. The guard is in the server's process
 * group.
 */
async function killGuard(serverPid: number): Promise<void> {
  for (const entry of await readdir("/proc")) {
    const status = await readFile(`/proc/${entry}/stat`, "utf8").catch(() => "");
    const [, name, group] = /\((.*)\) \S \d+ (\d+)/.exec(status) ?? [];
    if (name === "sh" && Number(group) === serverPid) process.kill(Number(entry), "SIGKILL");
  }
}

describe("a server that dies while its service is running", () => {
  for (const [what, findPids] of [
    ["the server itself", async () => [await serverPid()]],
    ["one of its processes", async (database) => [await backendPid(database)]],
    ["both", async (database) => [await backendPid(database), await serverPid()]],
  ] as [string, (database: OpenDatabase) => Promise<number[]>][])
    it(`(${what}) is restarted with every acknowledged row`, async () => {
      const database = await open();
      await database.db.execute(sql`create table counted (n int)`);
      for (let n = 0; n < 20; n++) await database.db.execute(sql`insert into counted values (${n})`);
      for (const pid of await findPids(database)) process.kill(pid, "SIGKILL");
      assert.deepEqual(await readWhenBack(database, sql`select count(*)::int as n from counted`), [
        { n: 20 },
      ]);
    });

  it("is not restarted any more when it keeps dying, and `onLost` is called", async () => {
    const { promise: lost, resolve } = Promise.withResolvers<Error>();
    let isLost = false;
    void lost.then(() => {
      isLost = true;
    });
    await open({ onLost: resolve });
    while (!isLost) {
      const pid = await serverPid().catch(() => 0);
      if (pid > 1 && isAlive(pid)) process.kill(pid, "SIGKILL");
      await sleep(20);
    }
    assert.match((await lost).message, /^Postgres ended 5 times within a minute/);
  });
});

const backendPid = async (database: OpenDatabase) =>
  (await read<{ pid: number }>(database, sql`select pg_backend_pid() as pid`))[0]?.pid ?? 0;

describe("a data folder", () => {
  it("with a truncated write-ahead log is refused, instead of losing work silently", async () => {
    await (await open()).close();
    opened = [];
    const wal = join(folder(), "pg_wal");
    const name = (await readdir(wal)).filter((each) => /^[0-9A-F]{24}$/.test(each)).sort()[0] ?? "";
    await truncate(join(wal, name), 1_000_000);
    await assert.rejects(openEmbedded({ dataDir }), (error) => {
      assert.ok(error instanceof DataFolderError);
      assert.match(
        error.message,
        /^the write-ahead log .* is cut off \(1000000 of 4194304 bytes\).*npm run restore/,
      );
      return true;
    });
  });

  it("of another major version is refused with the name of that version", async () => {
    await (await open()).close();
    opened = [];
    await writeFile(join(folder(), "PG_VERSION"), "9\n");
    await assert.rejects(openEmbedded({ dataDir }), /the data folder was made by Postgres 9: .*DATABASE_URL/);
  });

  it("that contains other files is not overwritten", async () => {
    await mkdir(folder());
    await writeFile(join(folder(), "letter.txt"), "dear database");
    await assert.rejects(openEmbedded({ dataDir }), /holds files but no complete database/);
    assert.deepEqual(await readdir(folder()), ["letter.txt"]);
  });

  it("whose creation was interrupted is created again", async () => {
    await mkdir(join(dataDir, "postgres-new-abcdef", "data"), { recursive: true });
    assert.deepEqual(await read(await open(), sql`select 1 as one`), [{ one: 1 }]);
    assert.deepEqual((await readdir(dataDir)).sort(), ["owner.lock", "postgres"]);
  });
});
