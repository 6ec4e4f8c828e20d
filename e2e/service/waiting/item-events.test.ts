import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Receiver, startReceiver } from "#e2e/fixtures/receiver.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { signBody } from "#lib/callback/sign-body.ts";
import { endOverdueWaits } from "#lib/session/waiting/waiting.ts";
import { readAgents, scriptByTask, spawn, submit, wait } from "../agents/agents-testing.ts";
import { delegating } from "../agents/tree-testing.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { listItems, onlyItem, settle, untilTurnParked } from "./inbox-testing.ts";
import { ask, sayAsPerson } from "./waiting-testing.ts";

const SECRET = "secret-of-the-receiver-of-items";
const ALL = ["run.started", "run.completed", "run.waiting", "run.resumed"];

let service: TestService;
let receiver: Receiver;
before(async () => {
  service = await openTestService({ SANDBOX: "unconfined" });
  receiver = await startReceiver();
});
after(async () => {
  await service.close();
  await receiver.close();
});

type Body = {
  event: string;
  sessionId: string;
  requestId: string;
  runId: string;
  timestamp: string;
  item?: Record<string, unknown>;
  data: Record<string, unknown>;
};

const create = (text: string, events: string[] | undefined, more: Record<string, unknown> = {}) =>
  service.create(text, {
    capabilities: { browser: false },
    interaction: { mode: "ask" },
    callback: { url: receiver.url, secret: SECRET, ...(events && { events }) },
    ...more,
  });

/** Returns the callbacks of a session, in the order of their arrival, and the ids of their deliveries. */
const callbacksOf = ({ sessionId }: { sessionId: string }) =>
  receiver.received
    .map(({ body, headers }) => {
      assert.equal(headers["x-service-signature"], signBody(SECRET, body));
      const parsed = JSON.parse(body.toString()) as Body;
      assert.equal(headers["x-service-event"], parsed.event);
      return { ...parsed, delivery: String(headers["x-service-delivery"]) };
    })
    .filter((body) => body.sessionId === sessionId);

const untilCalled = (session: { sessionId: string }, count: number) =>
  waitUntil(() => callbacksOf(session).length >= count, `${count} callbacks have arrived`);

const asking = (...questions: string[]): Step[] => [{ toolCalls: questions.map((each) => ask(each)) }];

describe("run.waiting and run.resumed", () => {
  it("are sent if the callback names them: signed, with the item, once each", async () => {
    scriptByTask(service, { "ask and tell": asking("Which colour?") });
    const session = await create("ask and tell", ALL);
    await untilCalled(session, 2);
    const { id, createdAt, expiresAt } = await onlyItem(service, session);
    await settle(service, session, id, { answer: "red" });
    await service.completed(session.statusUrl);
    await untilCalled(session, 4);
    const sent = callbacksOf(session);
    assert.deepEqual(sent.map(({ event }) => event).toSorted(), ALL.toSorted());
    assert.equal(new Set(sent.map(({ delivery }) => delivery)).size, 4);
    const [waiting] = sent.filter(({ event }) => event === "run.waiting");
    const [resumed] = sent.filter(({ event }) => event === "run.resumed");
    const item = { id, kind: "question", title: "Which colour?", createdAt, expiresAt };
    const events = await readEvents(service, session.sessionId);
    const [stored] = only(events, "run.waiting");
    assert.deepEqual(stored?.item, item);
    assert.deepEqual(waiting?.data, stored);
    assert.deepEqual(only(events, "run.resumed")[0]?.item, {
      ...item,
      state: "answered",
      settledBy: "program",
    });
    assert.deepEqual(resumed?.data, only(events, "run.resumed")[0]);
    assert.deepEqual(resumed?.item, { ...item, state: "answered", settledBy: "program" });
    const { runId, requestId, sessionId } = session;
    for (const each of [waiting, resumed])
      assert.deepEqual(
        [each?.sessionId, each?.requestId, each?.runId, each?.timestamp],
        [sessionId, requestId, runId, each?.data.timestamp],
      );
    const { data } = await service.read<{ data: { event: string }[] }>(
      `/api/sessions/${sessionId}/deliveries`,
    );
    assert.deepEqual(data.map(({ event }) => event).toSorted(), ALL.toSorted());
  });

  it("are not sent by default, and are stored nevertheless", async () => {
    scriptByTask(service, { "ask silently": asking("Which colour?") });
    const session = await create("ask silently", undefined);
    await untilTurnParked(service, session);
    await settle(service, session, (await onlyItem(service, session)).id, { decline: true });
    await service.completed(session.statusUrl);
    await untilCalled(session, 2);
    const { data } = await service.read<{ data: { event: string }[] }>(
      `/api/sessions/${session.sessionId}/deliveries`,
    );
    assert.deepEqual(data.map(({ event }) => event).toSorted(), ["run.completed", "run.started"]);
    const record = await service.read<{ session: { callback: { events: string[] } } }>(
      `/api/sessions/${session.sessionId}`,
    );
    assert.deepEqual(record.session.callback.events, ["run.started", "run.completed"]);
    const events = await readEvents(service, session.sessionId);
    assert.equal(only(events, "run.waiting").length, 1);
    assert.equal(only(events, "run.resumed")[0]?.item.state, "declined");
  });

  it("report each of several questions once, however often the turn is parked", async () => {
    scriptByTask(service, { "ask twice": asking("One?", "Two?") });
    const session = await create("ask twice", ["run.waiting", "run.resumed"]);
    await untilTurnParked(service, session);
    const items = await listItems(service, session);
    const [one, two] = ["One?", "Two?"].map((title) => items.find((item) => item.title === title));
    await settle(service, session, one?.id ?? "", { answer: "1" });
    await untilCalled(session, 3);
    await untilTurnParked(service, session);
    await settle(service, session, two?.id ?? "", { answer: "2" });
    await service.completed(session.statusUrl);
    await untilCalled(session, 4);
    const events = await readEvents(service, session.sessionId);
    const named = (kind: "run.waiting" | "run.resumed") =>
      only(events, kind)
        .map(({ item }) => item.id)
        .toSorted();
    const ids = items.map(({ id }) => id).toSorted();
    assert.deepEqual([named("run.waiting"), named("run.resumed")], [ids, ids]);
    assert.deepEqual(
      callbacksOf(session)
        .map(({ event, item }) => `${event} ${item?.id}`)
        .toSorted(),
      [...ids.map((id) => `run.resumed ${id}`), ...ids.map((id) => `run.waiting ${id}`)],
    );
  });

  it("say how an item ended: expired, withdrawn by a message, withdrawn by a stop", async () => {
    const ends: Record<string, (session: { sessionId: string }) => Promise<unknown>> = {
      expired: () => endOverdueWaits(service.container.services, new Date(Date.now() + 700_000_000)),
      "withdrawn by a message": (session) =>
        service.call("POST", `/api/sessions/${session.sessionId}/agent/messages`, {
          text: "go on",
          mode: "steer",
        }),
      "withdrawn by a stop": (session) =>
        service.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`, {}),
    };
    for (const [name, end] of Object.entries(ends)) {
      scriptByTask(service, { [`be ${name}`]: asking("Which colour?") });
      const session = await create(`be ${name}`, ["run.resumed"]);
      await untilTurnParked(service, session);
      await end(session);
      await service.completed(session.statusUrl);
      await untilCalled(session, 1);
      const [resumed, ...others] = callbacksOf(session);
      assert.deepEqual(others, []);
      assert.equal(resumed?.item?.state, name.split(" ")[0], name);
      assert.equal("settledBy" in (resumed?.item ?? {}), false);
    }
  });

  it("report the budget of a turn", async () => {
    const spend = {
      toolCalls: [{ name: "run_shell", arguments: { command: "true" } }],
      usage: { inputTokens: 900, outputTokens: 100 },
    };
    scriptByTask(service, { "spend all": [spend, spend] });
    const session = await create("spend all", ["run.waiting", "run.resumed"], { budget: { tokens: 1_500 } });
    await untilCalled(session, 1);
    assert.deepEqual(
      [callbacksOf(session)[0]?.item?.kind, callbacksOf(session)[0]?.item?.expiresAt],
      ["budget", null],
    );
    const api = `/api/sessions/${session.sessionId}`;
    await service.call("PATCH", `${api}/budget`, { tokens: 1_600 });
    await service.call("PATCH", `${api}/budget`, { tokens: 50_000 });
    await service.completed(session.statusUrl);
    await untilCalled(session, 2);
    assert.deepEqual(
      callbacksOf(session).map(({ event, item }) => [event, item?.state]),
      [
        ["run.waiting", undefined],
        ["run.resumed", "done"],
      ],
    );
  });

  it("report the wait of a sub-agent to the callback of the root session", async () => {
    scriptByTask(service, {
      "lead and tell": [
        { toolCalls: [spawn({ name: "painter", objective: "pick a colour", browser: "none" })] },
        { toolCalls: [wait()] },
      ],
      "pick a colour": [...asking("Which colour?"), { toolCalls: [submit("painted")] }],
    });
    const session = await create("lead and tell", ["run.waiting", "run.resumed"], delegating);
    await untilCalled(session, 1);
    const [agent] = await readAgents(service, session.sessionId);
    const [waiting] = callbacksOf(session);
    assert.deepEqual(
      [waiting?.item?.title, waiting?.item?.agentName, waiting?.data.sessionId],
      ["painter: Which colour?", "painter", agent?.sessionId],
    );
    const path = `/api/sessions/${session.sessionId}/deliveries`;
    const { data } = await service.read<{ data: { id: string; state: string }[] }>(path);
    assert.deepEqual(
      data.map(({ id }) => id),
      [waiting?.delivery],
    );
    await waitUntil(
      async () =>
        (await service.read<{ data: { state: string }[] }>(path)).data.every(
          ({ state }) => state === "delivered",
        ),
      "the delivery is recorded",
    );
    const again = await service.call("POST", `${path}/${waiting?.delivery}/redeliver`, {});
    assert.equal(again.status, 202, await again.text());
    await untilCalled(session, 2);
    assert.deepEqual(callbacksOf(session)[1], waiting);
    await settle(service, session, String(waiting?.item?.id), { answer: "red" });
    await service.completed(session.statusUrl);
    await untilCalled(session, 3);
    assert.equal(callbacksOf(session)[2]?.event, "run.resumed");
  });

  it("are those of a turn of a person, too, and a plan has none", async () => {
    scriptByTask(service, { "ask a person": asking("Which colour?") });
    const session = await create("say done", ["run.waiting"], { interaction: undefined });
    await service.completed(session.statusUrl);
    const turn = await sayAsPerson(service, session, { text: "ask a person" });
    await untilCalled(session, 1);
    assert.equal(callbacksOf(session)[0]?.runId, turn.runId);
  });
});

it("a callback with an unknown event is refused, and the message names all events", async () => {
  const refused = await service.call("POST", "/api/session", {
    messages: [{ role: "user", parts: [{ type: "text", text: "hello" }] }],
    callback: { url: receiver.url, events: [] },
  });
  assert.equal(refused.status, 400);
  assert.equal(
    ((await refused.json()) as { error: string }).error,
    "callback.events: must name at least one of run.started, run.completed, run.waiting, run.resumed",
  );
});
