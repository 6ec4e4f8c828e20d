import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq, sql } from "drizzle-orm";
import { startTestPostgres, type TestPostgres } from "#db/postgres-testing.ts";
import { browserHosts, browsers, runs } from "#db/schema/index.ts";
import { createDatabase } from "#db/testing.ts";
import { findTestChromium } from "#lib/browser/testing.ts";
import type { DomainEvent } from "#lib/events/event.ts";
import { openTestService, type TestService, waitUntil } from "./testing.ts";

// Needs a process of its own: it collects the unhandled errors of its process.

let postgres: TestPostgres;
let service: TestService;
/** Unhandled errors. Without the listeners of this test, they would end the Node process. */
const unhandled: unknown[] = [];
const keep = (error: unknown) => unhandled.push(error);

before(async () => {
  process.on("unhandledRejection", keep).on("uncaughtException", keep);
  postgres = await startTestPostgres();
  service = await openTestService({
    DATABASE_URL: await createDatabase(postgres.url, "restarts"),
    DATABASE_DRIVER: "pg",
    BROWSER_EXECUTABLE_PATH: findTestChromium().executablePath,
  });
  service.model.respondWith(({ answersSoFar }) =>
    answersSoFar < 3
      ? {
          delayMs: 100,
          toolCalls: [{ name: "write_file", arguments: { path: `${answersSoFar}.txt`, content: "x" } }],
        }
      : { text: "Done." },
  );
});
after(async () => {
  await service.close();
  await postgres.stop();
  process.off("unhandledRejection", keep).off("uncaughtException", keep);
});

async function readEvents(of: TestService, sessionId: string): Promise<DomainEvent[]> {
  const stored = await of.container.services.log.read(sessionId, { after: 0, limit: 1_000 });
  return stored.map(({ body }) => JSON.parse(body) as DomainEvent);
}

describe("the browsers of services that share a Postgres", () => {
  let url: string;
  const { executablePath: BROWSER_EXECUTABLE_PATH } = findTestChromium();
  const ENCRYPTION_KEY = Buffer.alloc(32, 3).toString("base64");
  const open = () =>
    openTestService({ DATABASE_URL: url, DATABASE_DRIVER: "pg", BROWSER_EXECUTABLE_PATH, ENCRYPTION_KEY });
  const readStatus = async (of: TestService, { sessionId }: { sessionId: string }) =>
    (await of.container.services.browser.readStatus(sessionId)).status;
  const hostOf = async ({ container }: TestService, { sessionId }: { sessionId: string }) => {
    const rows = await container.services.db.select().from(browsers).where(eq(browsers.sessionId, sessionId));
    return rows[0]?.hostId;
  };
  before(async () => {
    url = await createDatabase(postgres.url, "browsers");
  });

  it("stay while a process uses their host, and expire when the last one has ended", async () => {
    const [first, second] = [await open(), await open()];
    const owned = await first.create("One");
    await first.container.services.browser.open(owned.sessionId);
    assert.equal(await readStatus(second, owned), "ready");
    await second.container.services.browser.open(owned.sessionId);
    await first.close();
    assert.equal(await readStatus(second, owned), "ready");
    await second.close();
    const third = await open();
    assert.equal(await readStatus(third, owned), "expired");
    const events = await readEvents(third, owned.sessionId);
    assert.equal(events.findLast((event) => event.kind === "browser.status")?.status, "expired");
    await third.close();
  });

  it("of a host whose lease has ended are not expired right after a restart of the server", async () => {
    const second = await open();
    const session = await second.create("Two");
    const { db } = second.container.services;
    await db.insert(browserHosts).values({
      id: "bh_gone",
      home: "local",
      machine: "another machine",
      url: "ws://127.0.0.1:1",
      sealedToken: "",
      protocol: 1,
      places: 1,
      leaseUntil: new Date(Date.now() - 60_000),
    });
    await db.insert(browsers).values({ sessionId: session.sessionId, status: "ready", hostId: "bh_gone" });
    await postgres.restart();
    let status: string | undefined;
    const read = async () => {
      // The first statements fail, because their connections were lost.
      status = await readStatus(second, session).catch(() => undefined);
      return status !== undefined;
    };
    await waitUntil(read, "the service has reconnected");
    assert.equal(status, "ready");
    await second.close();
  });

  it("are started again at the next use if their host is gone, and shared if it lives", async () => {
    const [first, second] = [await open(), await open()];
    const session = await first.create("Look");
    await first.container.services.db
      .insert(browsers)
      .values({ sessionId: session.sessionId, status: "ready", hostId: "bh_never_there" });
    await first.container.services.browser.open(session.sessionId);
    assert.equal(await readStatus(first, session), "ready");
    const host = await hostOf(first, session);
    assert.notEqual(host, "bh_never_there");
    assert.deepEqual(await second.container.services.browser.open(session.sessionId), { state: "ready" });
    assert.equal(await hostOf(second, session), host);
    await Promise.all([first.close(), second.close()]);
  });
});

describe("a service during an outage of Postgres", () => {
  it("answers with errors, reports the outage in its readiness, and recovers", async () => {
    await postgres.restart("fast", async () => {
      const refused = await service.call("POST", "/api/session", {
        messages: [{ role: "user", parts: [{ type: "text", text: "Hello" }] }],
      });
      assert.ok(refused.status >= 500, `answered ${refused.status}`);
      assert.equal(((await refused.json()) as { success: boolean }).success, false);
      const ready = await service.call("GET", "/api/ready");
      assert.equal(ready.status, 503);
      const { checks } = (await ready.json()) as { checks: { database: { ok: boolean } } };
      assert.equal(checks.database.ok, false);
    });
    const session = await service.create("Hello again");
    await service.completed(session.statusUrl);
    assert.deepEqual(unhandled, []);
  });

  it("shows no browser as ready that ended during the outage", async () => {
    const { browser } = service.container.services;
    const session = await service.create("Look at it");
    await browser.open(session.sessionId);
    assert.equal((await browser.readStatus(session.sessionId)).status, "ready");
    await postgres.restart("fast", () => browser.closeSession(session.sessionId));
    await waitUntil(async () => {
      const status = await browser.readStatus(session.sessionId).catch(() => undefined);
      return status?.status === "expired";
    }, "the status is right again");
    await browser.reapIdle();
    const events = await readEvents(service, session.sessionId);
    assert.equal(events.findLast((event) => event.kind === "browser.status")?.status, "expired");
  });

  it("applies a stop whose notification it missed after it has reconnected", async () => {
    const { db } = service.container.services;
    service.model.enqueue({ text: "Never heard", hold: "once", holdAt: "start" });
    const session = await service.create("Think without end");
    await service.model.waitForRequest(({ userText }) => userText === "Think without end");
    // Stores a stop request directly, to simulate a process that ended before it sent the notification.
    await db.update(runs).set({ cancelRequestedAt: new Date() }).where(eq(runs.id, session.runId));
    await db.execute(sql`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = current_setting('application_name') and pid <> pg_backend_pid()`);
    await service.completed(session.statusUrl);
    const end = (await readEvents(service, session.sessionId)).at(-1);
    assert.equal(end?.kind === "run.completed" && end.outcome, "cancelled");
  });

  for (const mode of ["fast", "immediate"] as const) {
    it(`plays all turns to their end when Postgres restarts under load (${mode})`, async () => {
      const before = service.model.requests.length;
      // Their turns need 48 answers.
      const sessions = await Promise.all(
        Array.from({ length: 12 }, (_, index) => service.create(`Turn ${index}`)),
      );
      for (const answers of [14, 28]) {
        await waitUntil(() => service.model.requests.length >= before + answers, "turns are under way");
        await postgres.restart(mode);
      }
      for (const { statusUrl } of sessions) await completes(statusUrl);
      for (const { sessionId } of sessions) {
        const events = await readEvents(service, sessionId);
        assert.deepEqual(
          events.map(({ seq }) => seq),
          events.map((_, index) => index + 1),
        );
        const ends = events.filter((event) => event.kind === "run.completed");
        assert.equal(ends.at(-1)?.kind === "run.completed" && ends.at(-1)?.outcome, "succeeded");
        assert.equal(ends.length, 1, "there is one run, which ended once");
      }
      assert.deepEqual(unhandled, []);
    });
  }

  /** Polls a request until it is completed. Ignores polls that fail while Postgres restarts. */
  async function completes(statusUrl: string): Promise<void> {
    await waitUntil(async () => {
      const answer = await service.call("GET", statusUrl);
      return answer.ok && (await answer.json()).status === "completed";
    }, `${statusUrl} is completed`);
  }
});
