import assert from "node:assert/strict";
import { afterEach, describe } from "node:test";
import { startTestPostgres } from "#db/postgres-testing.ts";
import { createDatabase } from "#db/testing.ts";
import { playTestRun } from "#lib/test-runs/play-test-run.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { scriptTurn } from "../variants/variants-testing.ts";
import { itRuns, listRuns, openTestRunsService, runAndWait, untilEnded, write } from "./test-runs-testing.ts";

/** A test file. The first test attaches a file, and the second test takes four seconds. */
const SPEC = `import { test } from "@playwright/test";
test("first", async ({}, info) => { await info.attach("note", { body: "noted", contentType: "text/plain" }); });
test("second", async () => { await new Promise((done) => setTimeout(done, 4_000)); });`;

/** Starts a session with a test run, and waits until the first test has ended. */
async function startRun(service: TestService, baseUrl: string) {
  const marker = `restart ${crypto.randomUUID()}`;
  const steps = [write("tests/a.spec.ts", SPEC), ...runAndWait({ baseUrl })];
  scriptTurn(service, marker, steps);
  const session = await service.create(marker);
  const hasBegun = async () => (await listRuns(service, session.sessionId))[0]?.counts.passed === 1;
  await waitUntil(hasBegun, "the first test has ended");
  return { session, follow: (next: TestService) => scriptTurn(next, marker, steps) };
}

/** Functions that close the resources of a test. A second call of a function does nothing. */
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of cleanups.splice(0).reverse()) await close();
});

function closeLater(close: () => Promise<void> | void): () => Promise<void> {
  let closed: Promise<void> | undefined;
  const once = () => (closed ??= Promise.resolve(close()));
  cleanups.push(once);
  return once;
}

describe("a test run of a process", () => {
  itRuns(
    "that shuts down is run again from its beginning by the next process, and its files are stored once",
    async () => {
      const fixture = await openTestRunsService();
      closeLater(fixture.shop.close);
      const closeFirst = closeLater(() => fixture.service.close({ keepFiles: true }));
      const { session, follow } = await startRun(fixture.service, fixture.shop.url);
      await closeFirst();
      const next = await openTestService(
        { BROWSER_EXECUTABLE_PATH: fixture.service.env.BROWSER_EXECUTABLE_PATH ?? "" },
        fixture.service.dataDir,
      );
      closeLater(next.close);
      follow(next);
      const ended = await untilEnded(next, session.sessionId);
      await next.completed(session.statusUrl);
      assert.deepEqual([ended.status, ended.counts.passed], ["passed", 2]);
      const evidence = await next.container.services.evidence.list(session.sessionId);
      assert.deepEqual(
        evidence.map(({ id }) => id),
        ended.results.flatMap(({ attachments }) => attachments.map(({ evidenceId }) => evidenceId)),
      );
    },
  );

  itRuns("that shares its database is played by no other process until the first has ended", async () => {
    const postgres = await startTestPostgres();
    closeLater(postgres.stop);
    const variables = {
      DATABASE_URL: await createDatabase(postgres.url, "tests"),
      DATABASE_DRIVER: "pg",
      ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
    };
    const fixture = await openTestRunsService(variables);
    closeLater(fixture.shop.close);
    const closeFirst = closeLater(() => fixture.service.close({ keepFiles: true }));
    const { BROWSER_EXECUTABLE_PATH = "" } = fixture.service.env;
    const other = await openTestService({ ...variables, BROWSER_EXECUTABLE_PATH }, fixture.service.dataDir);
    closeLater(other.close);
    const { session, follow } = await startRun(fixture.service, fixture.shop.url);
    follow(other);
    const { testRuns } = other.container.services;
    const { id = "" } = (await listRuns(other, session.sessionId))[0] ?? {};
    const shutdown = new AbortController();
    const play = (owner = testRuns.owner) => playTestRun({ ...testRuns, owner }, id, shutdown.signal);
    assert.deepEqual(await play(), { status: "later" });
    await closeFirst();
    const ended = await untilEnded(other, session.sessionId);
    assert.deepEqual([ended.status, ended.counts.passed], ["passed", 2]);
    await other.completed(session.statusUrl);
    assert.deepEqual(await play(), { status: "ended" });
  });
});
