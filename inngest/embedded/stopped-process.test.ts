import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { after, afterEach, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { startTestPostgres, type TestPostgres } from "#db/postgres-testing.ts";
import { createDatabase, openTestPostgres, type TestDatabase } from "#db/testing.ts";
import type { ProcessNews } from "./process-testing.ts";
import { isQuiet, readRuns, until } from "./testing.ts";

let postgres: TestPostgres;
let url: string;
let database: TestDatabase;
const children: ChildProcess[] = [];

before(async () => {
  postgres = await startTestPostgres();
  url = await createDatabase(postgres.url, "stopped");
  database = await openTestPostgres({ driver: "pg", url });
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});
after(async () => {
  await database.close();
  await postgres.stop();
});

const LEASE_MS = 600;

/** Starts a process with an engine, and collects its reports. */
async function startProcess(name: string, isHeld: boolean, leaseMs = LEASE_MS) {
  const child = fork(new URL("./process-testing.ts", import.meta.url), { execArgv: ["--no-warnings"] });
  children.push(child);
  const news: ProcessNews[] = [];
  child.on("message", (item) => news.push(item as ProcessNews));
  child.send({ url, leaseMs, sweepMs: 150, name, isHeld });
  const has = (kind: ProcessNews["kind"]) => news.some((item) => item.kind === kind);
  await until(() => has("ready"), `${name} is ready`);
  const steps = () => news.flatMap((item) => (item.kind === "step" ? [item.name] : []));
  return { child, news, steps, has };
}

/** Reads all rows of the engine except the leases. */
const readRows = async () => [
  (await database.client.query("select * from engine_runs order by id")).rows,
  (await database.client.query("select * from engine_steps order by run_id, step_id")).rows,
  (await database.client.query("select * from engine_events order by id")).rows,
];

const readExpiredLeases = async () =>
  (await database.client.query("select id from engine_executors where lease_until <= now()")).rows;

describe("a process that is suspended for longer than its lease, and resumed", () => {
  it("has lost its runs to another process, writes nothing of them, and plays new ones", async () => {
    const stopped = await startProcess("stopped", true);
    const other = await startProcess("other", false);
    stopped.child.send("send");
    await until(() => stopped.steps().includes("work"), "the step is under way");
    await until(
      async () => (await readRuns(database.db)).some(({ state }) => state === "waiting"),
      "the other run sleeps",
    );
    stopped.child.kill("SIGSTOP");
    await until(() => isQuiet(database.db), "the other process has played both runs to their ends");
    await until(() => other.steps().length === 3, "it has reported its steps");
    assert.deepEqual(other.steps().sort(), ["last", "where", "work"]);
    const rows = await readRows();

    stopped.child.send("release");
    stopped.child.kill("SIGCONT");
    await until(() => stopped.has("refused"), "its step was refused");
    assert.deepEqual(stopped.steps(), ["work"], "it neither continues nor wakes the sleeping run");
    assert.deepEqual(await readRows(), rows);

    // Until the process renews its lease, the other process may claim its new runs, too.
    await until(async () => (await readExpiredLeases()).length === 0, "it has renewed its lease");
    stopped.child.send("send");
    await until(() => stopped.steps().includes("last"), "it plays new runs");
    await until(() => isQuiet(database.db), "they have ended");
    assert.ok(!stopped.has("failed"));
  });
});

describe("a process that is killed long before its lease expires", () => {
  it("loses its runs at the next sweep of another process", async () => {
    const hourMs = 3_600_000;
    const killed = await startProcess("killed", true, hourMs);
    killed.child.send("send");
    await until(() => killed.steps().includes("work"), "the step is under way");
    const other = await startProcess("other", false, hourMs);
    await setTimeout(500);
    assert.deepEqual(other.steps(), [], "while the process lives, its runs stay with it");
    killed.child.kill("SIGKILL");
    await until(() => other.steps().includes("last"), "the other process continues the run");
    assert.ok(other.steps().includes("work"), "the interrupted step runs again");
    assert.ok(!killed.steps().includes("last"));
  });
});
