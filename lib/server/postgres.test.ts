import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startTestPostgres, type TestPostgres } from "#db/postgres-testing.ts";
import { browsers } from "#db/schema/index.ts";
import { createDatabase } from "#db/testing.ts";
import type { DomainEvent } from "#lib/events/event.ts";
import { openTestService, type TestService, waitUntil } from "./testing.ts";

let postgres: TestPostgres;
let service: TestService;
/** What Node would end the process for. */
const unhandled: unknown[] = [];
const keep = (error: unknown) => unhandled.push(error);

before(async () => {
  process.on("unhandledRejection", keep).on("uncaughtException", keep);
  postgres = await startTestPostgres();
  service = await openTestService({
    DATABASE_URL: await createDatabase(postgres.url, "restarts"),
    DATABASE_DRIVER: "pg",
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

async function readEvents(sessionId: string): Promise<DomainEvent[]> {
  const stored = await service.container.services.log.read(sessionId, { after: 0, limit: 1_000 });
  return stored.map(({ body }) => JSON.parse(body) as DomainEvent);
}

describe("a service that starts on a Postgres where another one is at work", () => {
  it("leaves alone what may be the other's browsers, and marks as expired what is nobody's", async () => {
    const url = await createDatabase(postgres.url, "browsers");
    const open = () => openTestService({ DATABASE_URL: url, DATABASE_DRIVER: "pg" });
    const first = await open();
    const { db } = first.container.services;
    const [mine, nobodys] = [await first.create("One"), await first.create("Two")];
    const long = new Date(Date.now() - 3_600_000);
    await db.insert(browsers).values([
      { sessionId: mine.sessionId, status: "ready" },
      { sessionId: nobodys.sessionId, status: "ready", updatedAt: long },
    ]);
    const readStatus = async (of: TestService, { sessionId }: { sessionId: string }) =>
      (await of.container.services.browser.readStatus(sessionId)).status;

    const second = await open();
    assert.equal(await readStatus(second, mine), "ready");
    assert.equal(await readStatus(second, nobodys), "expired");
    await first.close();
    await second.close();

    const third = await open();
    assert.equal(await readStatus(third, mine), "expired");
    await third.close();
  });
});

describe("on a Postgres that goes away and comes back", () => {
  it("answers with an error while it is away, says so in its readiness, and serves again", async () => {
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

  for (const mode of ["fast", "immediate"] as const) {
    it(`plays all turns to their end over restarts under load (${mode})`, async () => {
      const sessions = await Promise.all(
        Array.from({ length: 12 }, (_, index) => service.create(`Turn ${index}`)),
      );
      for (const answers of [14, 28]) {
        const asked = service.model.requests.length + answers;
        await waitUntil(() => service.model.requests.length >= asked, "turns are under way").catch(() => {});
        await postgres.restart(mode);
      }
      for (const { statusUrl } of sessions) await completes(statusUrl);
      for (const { sessionId } of sessions) {
        const events = await readEvents(sessionId);
        assert.deepEqual(
          events.map(({ seq }) => seq),
          events.map((_, index) => index + 1),
        );
        const ends = events.filter((event) => event.kind === "run.completed");
        assert.equal(ends.at(-1)?.kind === "run.completed" && ends.at(-1)?.outcome, "succeeded");
        assert.equal(ends.length, 1, "one run, which ended once");
      }
      assert.deepEqual(unhandled, []);
    });
  }

  /** Asks for a status until it is completed; an answer that the restart spoiled is asked for again. */
  async function completes(statusUrl: string): Promise<void> {
    await waitUntil(async () => {
      const answer = await service.call("GET", statusUrl);
      return answer.ok && (await answer.json()).status === "completed";
    }, `${statusUrl} is completed`);
  }
});
