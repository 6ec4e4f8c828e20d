import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Plan } from "#lib/events/event.ts";
import { replacePlan } from "#lib/planning/store-plan.ts";
import { openTestService, type TestService } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { playFollowUp, playTurn } from "../variants/variants-testing.ts";
import { editAsPerson, plan, readPlan, todo } from "./planning-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ SANDBOX: "none" });
});
after(() => service.close());

const shown = ({ items }: Plan) => items.map(({ id, text, status }) => `${id} ${status} ${text}`);

describe("the plan", () => {
  it("is replaced as a whole: items keep their ids, new items get new ids, and each change is an event", async () => {
    const { session, results } = await playTurn(service, [
      plan([todo("Look"), todo("Change"), todo("Check")]),
      plan([
        { id: "p2", text: "Change the button", status: "in_progress" },
        { text: "Look", status: "done" },
        todo("Show"),
      ]),
      plan([]),
      plan([todo("Again")]),
    ]);
    assert.match(results[0] ?? "", /^The plan, revision 1:\n- p1 \[todo\] Look\n- p2 \[todo\] Change\n- p3/);
    assert.deepEqual(results[1]?.split("\n").slice(1), [
      "- p2 [in_progress] Change the button",
      "- p1 [done] Look",
      "- p4 [todo] Show",
    ]);
    assert.match(results[2] ?? "", /revision 3:\n\(empty\)/);
    assert.match(results[3] ?? "", /- p5 \[todo\] Again/);
    const stored = await readPlan(service, session.sessionId);
    assert.deepEqual([stored.revision, stored.author, stored.mode], [4, "agent", "off"]);
    const events = only(await readEvents(service, session.sessionId), "plan.updated");
    assert.deepEqual(
      events.map((event) => event.plan.revision),
      [1, 2, 3, 4],
    );
    assert.ok(events.every(({ runId }) => runId === session.runId));
  });

  it("refuses invalid input without a change", async () => {
    const long = Array.from({ length: 51 }, (_, index) => todo(`Step ${index}`));
    const { session, results } = await playTurn(service, [
      plan([todo("Look")]),
      plan(long),
      plan([todo("x".repeat(501))]),
      plan([todo("  ")]),
      plan([{ text: "Look", status: "started" }]),
      plan([todo("One", { id: "p1" }), todo("Two", { id: "p1" })]),
      plan([todo("Look")], { baseRevision: 9 }),
    ]);
    assert.match(results[1] ?? "", /items: must hold at most 50 items/);
    assert.match(results[2] ?? "", /items\[0\]\.text: must be at most 500 characters/);
    assert.match(results[3] ?? "", /items\[0\]\.text: must not be empty/);
    assert.match(results[4] ?? "", /items\[0\]\.status/);
    assert.match(results[5] ?? "", /items\[1\]\.id: p1 is used twice/);
    assert.match(results[6] ?? "", /baseRevision: the newest revision is 1/);
    const stored = await readPlan(service, session.sessionId);
    assert.deepEqual([stored.revision, shown(stored)], [1, ["p1 todo Look"]]);
  });

  it("is not replaced after a person's change until the agent names the changed revision, which it is shown", async () => {
    const { session } = await playTurn(service, [plan([todo("Look"), todo("Change")])]);
    const edited = await editAsPerson(service, session, { action: "setStatus", id: "p2", status: "dropped" });
    assert.equal(edited.status, 200);
    const [refused = "", stored = "", next = ""] = await playFollowUp(service, session.sessionId, [
      plan([todo("Look"), todo("Change"), todo("Publish")]),
      plan([todo("Look"), { id: "p2", text: "Change", status: "dropped" }], { baseRevision: 2 }),
      plan([{ id: "p1", text: "Look", status: "done" }]),
    ]);
    assert.match(refused, /a person has changed the plan; nothing was replaced.* baseRevision 2\.\n/);
    assert.match(refused, /- p2 \[dropped\] Change/);
    assert.match(stored, /^The plan, revision 3:/);
    assert.match(next, /^The plan, revision 4:/);
  });

  it("is stored once if a call is repeated after a crash, also after a person's edit", async () => {
    const { session } = await playTurn(service, []);
    const { planning } = service.container.services;
    const request = {
      rootSessionId: session.sessionId,
      items: [{ text: "Look", status: "todo" as const }],
      requestId: null,
      runId: "run_crashed",
      callId: "call_1",
    };
    const first = await replacePlan(planning, request);
    const again = await replacePlan(planning, request);
    assert.deepEqual(again, first);
    await editAsPerson(service, session, { action: "add", text: "Ask Ann" });
    const after = await replacePlan(planning, request);
    assert.ok(after.ok && after.isEditedSince);
    assert.deepEqual(after.ok && shown(after.plan), ["p1 todo Look", "p2 todo Ask Ann"]);
    const events = only(await readEvents(service, session.sessionId), "plan.updated");
    assert.equal(events.length, 2);
  });
});

describe("edits of people", () => {
  it("all take effect if they change different items at the same time", async () => {
    const { session } = await playTurn(service, [plan([todo("Look"), todo("Change"), todo("Check")])]);
    const answers = await Promise.all([
      editAsPerson(service, session, { action: "setStatus", id: "p1", status: "done" }),
      editAsPerson(service, session, { action: "setText", id: "p2", text: "Change both", was: "Change" }),
      editAsPerson(service, session, { action: "add", text: "Before all", after: null }),
      editAsPerson(service, session, { action: "add", text: "After p1", after: "p1" }),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    const stored = await readPlan(service, session.sessionId);
    assert.equal(stored.revision, 5);
    assert.equal(stored.author, "person");
    const texts = stored.items.map(({ text }) => text);
    assert.deepEqual(texts, ["Before all", "Look", "After p1", "Change both", "Check"]);
    assert.equal(new Set(stored.items.map(({ id }) => id)).size, 5);
  });

  it("are refused together with their call if another person changed the text or item", async () => {
    const { session } = await playTurn(service, [plan([todo("Look")])]);
    await editAsPerson(service, session, { action: "setText", id: "p1", text: "Look twice", was: "Look" });
    const late = await editAsPerson(
      service,
      session,
      { action: "add", text: "Never stored" },
      { action: "setText", id: "p1", text: "Look once", was: "Look" },
    );
    assert.equal(late.status, 409);
    assert.match((await late.json()).error, /^edits\[1\]\.was: p1 reads "Look twice" now/);
    const gone = await editAsPerson(service, session, { action: "setStatus", id: "p7", status: "done" });
    assert.equal(gone.status, 409);
    assert.deepEqual(shown(await readPlan(service, session.sessionId)), ["p1 todo Look twice"]);
  });

  it("are validated, as are those of API clients", async () => {
    const { session } = await playTurn(service, []);
    const path = `/api/sessions/${session.sessionId}/plan`;
    const cases: [string, unknown, string][] = [
      ["/edits", { edits: [] }, "edits: must hold an edit"],
      ["/edits", { edits: [{ action: "add", text: "" }] }, "edits[0].text: must not be empty"],
      ["/edits", { edits: [{ action: "burn" }] }, "edits[0].action: "],
      ["/mode", { mode: "agreed" }, 'mode: must be "off" or "plan_first"'],
    ];
    for (const [end, body, error] of cases) {
      const answer = await service.call("POST", `${path}${end}`, body);
      assert.equal(answer.status, 400);
      const sentence = ((await answer.json()) as { error: string }).error;
      assert.ok(sentence.startsWith(error), sentence);
    }
  });
});
