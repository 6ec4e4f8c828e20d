import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { QUEUED_MAX } from "#lib/session/follow-up/accept-message.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { playTurn, scriptTurn, step } from "../variants/variants-testing.ts";
import { editAsPerson, plan, readPlan, sayGo, setMode, todo } from "./planning-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ SANDBOX: "unconfined" });
});
after(() => service.close());

/** Creates a session in the mode `plan_first` whose agent has written a plan. */
async function createPlanned() {
  const { session } = await playTurn(service, [plan([todo("Write the file")])]);
  await setMode(service, session.sessionId, "plan_first");
  return session;
}

const messagesOf = async (sessionId: string): Promise<string[]> => {
  const { data } = await service.read<{ data: { role: string; parts: { text: string }[] }[] }>(
    `/api/sessions/${sessionId}/messages`,
  );
  return data.filter(({ role }) => role === "user").map(({ parts }) => parts[0]?.text ?? "");
};

/** Starts a turn. The answer to its first model call is held back until `release` is called. */
async function hold(sessionId: string, ...steps: Parameters<typeof scriptTurn>[2]) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const marker = `task ${crypto.randomUUID()}`;
  const [first = { text: "Done." }, ...others] = steps;
  scriptTurn(service, marker, [{ ...first, hold: promise }, ...others]);
  const posted = await service.call("POST", `/api/sessions/${sessionId}/agent/messages`, { text: marker });
  const { statusUrl, runId } = (await posted.json()) as { statusUrl: string; runId: string };
  await waitUntil(
    () => service.model.requests.some(({ userText }) => userText.includes(marker)),
    "the turn is at its model",
  );
  return { release: resolve, statusUrl, runId };
}

describe("go", () => {
  it("sets the mode to agreed and, if no turn runs, starts a turn of the person that may change things", async () => {
    const session = await createPlanned();
    scriptTurn(service, "Use short names.", [step("write_file", { path: "a.txt", content: "a" })]);
    const answer = await sayGo(service, session, 1, "Use short names.");
    assert.equal(answer.status, 202);
    const { statusUrl, queued } = (await answer.json()) as { statusUrl: string; queued: boolean };
    assert.equal(queued, false);
    await service.completed(statusUrl);
    assert.equal((await readPlan(service, session.sessionId)).mode, "agreed");
    const message = (await messagesOf(session.sessionId)).at(-1);
    assert.equal(message, "The plan is agreed. Go ahead.\n\nUse short names.");
    const events = await readEvents(service, session.sessionId);
    assert.equal(only(events, "run.started").at(-1)?.origin, "person");
    assert.deepEqual(
      only(events, "plan.updated").map((event) => event.plan.mode),
      ["off", "plan_first", "agreed"],
    );
    assert.equal(only(events, "tool.result").at(-1)?.state, "succeeded");
    const request = service.model.requests.findLast(({ userText }) => userText.includes("Use short names."));
    assert.match(request?.text ?? "", /A person has agreed to the plan: follow it\./);
  });

  it("steers a running turn, which may then make the calls that were refused before", async () => {
    const session = await createPlanned();
    const write = step("write_file", { path: "a.txt", content: "a" });
    const { release, statusUrl, runId } = await hold(session.sessionId, step("list_files"));
    scriptTurn(service, "The plan is agreed. Go ahead.", [write]);
    const answer = await sayGo(service, session, 1);
    assert.equal(answer.status, 202);
    const accepted = (await answer.json()) as { runId: string; queued: boolean };
    assert.deepEqual([accepted.runId, accepted.queued], [runId, true]);
    release();
    await service.completed(statusUrl);
    const events = await readEvents(service, session.sessionId);
    assert.equal(only(events, "turn.steered").length, 1);
    const written = only(events, "tool.result").at(-1);
    assert.deepEqual([written?.toolName, written?.state, written?.runId], ["write_file", "succeeded", runId]);
  });

  it("is refused without a message if the plan is empty, changed, agreed or done, or if plan first is off", async () => {
    const { session } = await playTurn(service, []);
    const go = async (revision: number) => {
      const answer = await sayGo(service, session, revision);
      return `${answer.status} ${((await answer.json()) as { error?: string }).error}`;
    };
    assert.equal(await go(1), "409 plan first is off, so there is nothing to agree to");
    await setMode(service, session.sessionId, "plan_first");
    assert.equal(await go(1), "409 there is no plan to agree to yet");
    await editAsPerson(service, session, { action: "add", text: "Look" });
    await editAsPerson(service, session, { action: "add", text: "Change" });
    assert.equal(await go(1), "409 revision: the plan has revision 2 by now; read it and agree to that");
    assert.equal((await messagesOf(session.sessionId)).length, 1);
    assert.equal((await readPlan(service, session.sessionId)).mode, "plan_first");
    assert.equal((await sayGo(service, session, 2)).status, 202);
    assert.equal(await go(2), "409 the plan is agreed already");
    await setMode(service, session.sessionId, "plan_first");
    await editAsPerson(
      service,
      session,
      { action: "setStatus", id: "p1", status: "done" },
      { action: "setStatus", id: "p2", status: "dropped" },
    );
    assert.equal(await go(3), "409 the plan has nothing left to do");
    await waitUntil(
      async () => (await messagesOf(session.sessionId)).length === 2,
      "there is one message of a go",
    );
  });

  it("does not change the mode if the queue is full, and posts one message if several people click at once", async () => {
    const session = await createPlanned();
    const { release, statusUrl } = await hold(session.sessionId);
    for (let count = 0; count < QUEUED_MAX; count++)
      await service.call("POST", `/api/sessions/${session.sessionId}/agent/messages`, { text: `m ${count}` });
    const full = await sayGo(service, session, 1);
    assert.equal(full.status, 409);
    assert.match(((await full.json()) as { error: string }).error, /messages wait already/);
    assert.equal((await readPlan(service, session.sessionId)).mode, "plan_first");
    release();
    await service.completed(statusUrl);

    const other = await createPlanned();
    const answers = await Promise.all([1, 2, 3].map(() => sayGo(service, other, 1)));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [202, 409, 409]);
    await waitUntil(
      async () => (await messagesOf(other.sessionId)).length === 2,
      "there is one message of a go",
    );
  });

  it("requires the role drive on the session page, and refuses API keys", async () => {
    const session = await createPlanned();
    const byKey = await service.call("POST", `/s/${session.sessionId}/actions/plan/go`, { revision: 1 });
    assert.ok([401, 403].includes(byKey.status), String(byKey.status));
    const created = await service.call("POST", `/api/sessions/${session.sessionId}/share-links`, {
      role: "comment",
    });
    const { shareUrl } = (await created.json()) as { shareUrl: string };
    const viewer = { sessionId: session.sessionId, shareUrl };
    assert.equal((await sayGo(service, viewer, 1)).status, 403);
    assert.equal((await editAsPerson(service, viewer, { action: "add", text: "Mine" })).status, 403);
    assert.equal((await readPlan(service, session.sessionId)).mode, "plan_first");
  });
});
