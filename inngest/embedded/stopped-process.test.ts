import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { after, before, describe, it } from "node:test";
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
after(async () => {
  for (const child of children) child.kill("SIGKILL");
  await database.close();
  await postgres.stop();
});

const LEASE_MS = 600;

/** Starts a process with an engine, and collects its reports. */
async function startProcess(name: string, isHeld: boolean) {
  const child = fork(new URL("./process-testing.ts", import.meta.url), { execArgv: ["--no-warnings"] });
  children.push(child);
  const news: ProcessNews[] = [];
  child.on("message", (item) => news.push(item as ProcessNews));
  child.send({ url, leaseMs: LEASE_MS, sweepMs: 150, name, isHeld });
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

    stopped.child.send("send");
    await until(() => stopped.steps().includes("last"), "it plays new runs");
    assert.ok(!stopped.has("failed"));
  });
});
