import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { armFaults } from "#lib/faults/fault-point.ts";
import { openTestService, type TestService } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { playFollowUp, playTurn, step } from "../variants/variants-testing.ts";
import { listRequirements, plan, readPlan, sayGo, setMode, todo } from "./planning-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ SANDBOX: "none" });
});
afterEach(() => armFaults(undefined));
after(() => service.close());

/**
 * Makes the executor fail once, after the effect of a tool call is stored and before the call's result is recorded. The
 * engine then repeats the step.
 */
const failAfterCall = () => armFaults({ point: "tool-ended", nth: 1, action: "throw", afterMs: 0 });

describe("a call whose executor failed before its result was recorded", () => {
  it("of update_plan answers the stored plan when it is repeated, and stores no second one", async () => {
    failAfterCall();
    const { session, results } = await playTurn(service, [plan([todo("Look")])]);
    assert.match(results[0] ?? "", /^The plan, revision 1:\n- p1 \[todo\] Look$/);
    assert.equal((await readPlan(service, session.sessionId)).revision, 1);
    assert.equal(only(await readEvents(service, session.sessionId), "plan.updated").length, 1);
  });

  it("of add_requirements adds nothing twice", async () => {
    failAfterCall();
    const requirements = [{ text: "One" }, { text: "Two" }];
    const { session, results } = await playTurn(service, [step("add_requirements", { requirements })]);
    assert.match(results[0] ?? "", /^- r1 \[open\] One\n- r2 \[open\] Two$/);
    assert.equal((await listRequirements(service, session.sessionId)).length, 2);
    assert.equal(only(await readEvents(service, session.sessionId), "requirement.updated").length, 1);
  });

  it("of update_requirement changes the requirement once", async () => {
    const requirements = [{ text: "One" }];
    const { session } = await playTurn(service, [step("add_requirements", { requirements })]);
    failAfterCall();
    const input = { id: "r1", status: "failed", note: "The page is gone" };
    const [answer = ""] = await playFollowUp(service, session.sessionId, [step("update_requirement", input)]);
    assert.match(answer, /^- r1 \[failed\] One; note: The page is gone$/);
    assert.equal(only(await readEvents(service, session.sessionId), "requirement.updated").length, 2);
  });
});

describe("a go whose answer was lost", () => {
  it("has stored both the mode and the message, and a second click is refused", async () => {
    const { session } = await playTurn(service, [plan([todo("Look")])]);
    await setMode(service, session.sessionId, "plan_first");
    armFaults({ point: "follow-up-committed", nth: 1, action: "throw", afterMs: 0 });
    assert.equal((await sayGo(service, session, 1)).status, 500);
    armFaults(undefined);
    assert.equal((await readPlan(service, session.sessionId)).mode, "agreed");
    assert.equal((await sayGo(service, session, 1)).status, 409);
    const { data } = await service.read<{ data: { parts: { text: string }[] }[] }>(
      `/api/sessions/${session.sessionId}/messages`,
    );
    const agreed = data.filter(({ parts }) => parts[0]?.text === "The plan is agreed. Go ahead.");
    assert.equal(agreed.length, 1);
  });
});
