import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eq } from "drizzle-orm";
import { runs } from "#db/schema/index.ts";
import { openTestService, type TestService } from "../testing.ts";
import { only, readEvents } from "./turn-testing.ts";

let service: TestService;

before(async () => {
  service = await openTestService();
});
after(() => service.close());

async function follow(sessionId: string, body: { text: string; mode?: "interrupt" }) {
  const response = await service.call("POST", `/api/sessions/${sessionId}/agent/messages`, body);
  assert.equal(response.status, 202);
  return (await response.json()) as { requestId: string; runId: string; statusUrl: string };
}

test("a message whose turn is about to start is played after an interrupt that overtakes it", async () => {
  const { turn, db } = service.container.services;
  const [first, urgent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  service.model.respondWith(({ userText }) => {
    if (userText.includes("my note")) return { text: "Noted." };
    return userText.includes("urgent")
      ? { text: "At once.", hold: urgent.promise }
      : { text: "First.", hold: first.promise };
  });
  const session = await service.create("begin");
  await service.model.waitForRequest(({ userText }) => userText.includes("begin"));
  const note = await follow(session.sessionId, { text: "my note" });
  // A time in the future keeps the run from starting, which simulates a job that has not arrived.
  const setNotBefore = (notBefore: Date | null) =>
    db.update(runs).set({ notBefore }).where(eq(runs.id, note.runId));
  await setNotBefore(new Date(Date.now() + 3_600_000));
  first.resolve();
  await service.completed(session.statusUrl);
  const interrupt = await follow(session.sessionId, { text: "urgent", mode: "interrupt" });
  await setNotBefore(null);
  await service.model.waitForRequest(({ userText }) => userText.includes("urgent"));
  const early = await turn.play({ runId: note.runId, generation: 2, player: "the job on its way" });
  assert.deepEqual(early, { status: "not_claimable" });
  urgent.resolve();
  await service.completed(note.statusUrl);

  const events = await readEvents(service, session.sessionId);
  assert.deepEqual(
    only(events, "run.completed").map(({ requestId, outcome }) => [requestId, outcome]),
    [session, interrupt, note].map(({ requestId }) => [requestId, "succeeded"]),
  );
  const messages = only(events, "message.completed").map(({ message }) => JSON.stringify(message.parts));
  for (const [index, words] of ["begin", "First", "urgent", "At once", "my note", "Noted"].entries())
    assert.match(messages[index] ?? "", new RegExp(words));
});
