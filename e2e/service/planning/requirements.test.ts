import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { addRequirements, updateRequirement } from "#lib/planning/store-requirements.ts";
import { spawn, wait } from "../agents/agents-testing.ts";
import { openTestService, type TestService } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { playFollowUp, playTurn, scriptTurn, step } from "../variants/variants-testing.ts";
import { asVisitor, listRequirements } from "./planning-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ SANDBOX: "none" });
});
after(() => service.close());

const PAGE = "https://shop.example/";
const payText = { url: PAGE, selector: "#pay", is: "text", value: "Pay now" };
const add = (...requirements: unknown[]) => step("add_requirements", { requirements });
const update = (input: Record<string, unknown>) => step("update_requirement", input);

const savePicture = async (sessionId: string): Promise<string> => {
  const picture = { sessionId, runId: null, kind: "screenshot" as const, title: "The page", url: PAGE };
  const { evidence } = service.container.services;
  return (await evidence.save({ ...picture, mediaType: "image/png", bytes: new Uint8Array([1]) })).id;
};

describe("requirements of the agent", () => {
  it("can be met only with evidence of the session's tree, and each refusal says what is missing", async () => {
    const { session, results } = await playTurn(service, [
      add({ text: "The button reads Pay now", assertion: payText }, { text: "Nothing else moves" }),
      update({ id: "r1", status: "met" }),
      update({ id: "r1", status: "met", evidenceIds: ["evi_of_nobody"] }),
      update({ id: "r7", status: "open" }),
      update({ id: "r2", status: "failed" }),
      update({ id: "r2", status: "waived" }),
    ]);
    assert.match(
      results[0] ?? "",
      /^- r1 \[open\] The button reads Pay now; assertion: #pay is text "Pay now"/,
    );
    assert.match(
      results[1] ?? "",
      /evidenceIds: r1 is not met without evidence\. Make evidence first \(screenshot/,
    );
    assert.match(results[2] ?? "", /evidenceIds\[0\]: "evi_of_nobody" is no evidence of this session/);
    assert.match(results[3] ?? "", /id: there is no requirement r7/);
    assert.match(results[4] ?? "", /note: say why the requirement failed/);
    assert.match(results[5] ?? "", /status/);
    const stranger = await playTurn(service, []);
    const foreign = await savePicture(stranger.session.sessionId);
    const own = await savePicture(session.sessionId);
    const [refused = "", met = "", listed = ""] = await playFollowUp(service, session.sessionId, [
      update({ id: "r1", status: "met", evidenceIds: [foreign] }),
      update({ id: "r1", status: "met", evidenceIds: [own] }),
      step("list_requirements"),
    ]);
    assert.match(refused, /is no evidence of this session/);
    assert.match(met, new RegExp(`^- r1 \\[met\\].*evidence: ${own}`));
    assert.equal(listed.split("\n").length, 2);
    const [first, second] = await listRequirements(service, session.sessionId);
    assert.deepEqual([first?.status, first?.evidenceIds, second?.status], ["met", [own], "open"]);
    assert.equal(first?.evidence[0]?.sessionId, session.sessionId);
    const events = only(await readEvents(service, session.sessionId), "requirement.updated");
    assert.deepEqual(
      events.map(({ requirements }) => requirements.map(({ id, status }) => `${id} ${status}`)),
      [["r1 open", "r2 open"], ["r1 met"]],
    );
    const last = service.model.requests.findLast(({ kind }) => kind === "turn");
    assert.match(last?.text ?? "", /Requirements that are not met[^\n]*\n- r1 \[open\][^\n]*\n- r2 \[open\]/);
  });

  it("can be met with evidence of a sub-agent, which visitors of the page can open", async () => {
    scriptTurn(service, "hand over", [
      { toolCalls: [spawn({ objective: "look at the part" })] },
      { toolCalls: [wait()] },
      add({ text: "The part works" }),
    ]);
    const session = await service.create("hand over", { subAgents: true });
    await service.completed(session.statusUrl);
    const { agents } = await service.read<{ agents: { agentId: string }[] }>(
      `/api/sessions/${session.sessionId}/agents`,
    );
    const agentId = agents[0]?.agentId ?? "";
    const picture = await savePicture(agentId);
    const met = { id: "r1", status: "met", evidenceIds: [picture] };
    await playFollowUp(service, session.sessionId, [update(met)]);
    const [requirement] = await listRequirements(service, session.sessionId);
    assert.equal(requirement?.status, "met");
    assert.equal(requirement?.evidence[0]?.sessionId, agentId);
    const path = `/s/${session.sessionId}/agents/${agentId}/artifacts/${picture}`;
    assert.equal((await asVisitor(service, session, "GET", path)).status, 200);
  });

  it("are reopened when their text or assertion changes", async () => {
    const { session } = await playTurn(service, [add({ text: "Old" })]);
    const own = await savePicture(session.sessionId);
    await playFollowUp(service, session.sessionId, [
      update({ id: "r1", status: "met", evidenceIds: [own] }),
      update({ id: "r1", text: "New" }),
    ]);
    assert.equal((await listRequirements(service, session.sessionId))[0]?.status, "open");
  });

  it("are refused with the field if an assertion is invalid, and nothing of the call is stored", async () => {
    const { session, results } = await playTurn(service, [
      add({ text: "ok" }, { text: "bad", assertion: { ...payText, selector: "#a:has(#b) ~ c" } }),
      add({ text: "bad", assertion: { ...payText, url: "/relative" } }),
      add({ text: "bad", assertion: { ...payText, value: undefined } }),
      add({ text: "bad", assertion: { url: PAGE, selector: "#pay", is: "count", value: "2" } }),
      add({ text: "bad", assertion: { url: PAGE, selector: "#pay", is: "visible", value: "x" } }),
      add(),
    ]);
    assert.match(results[0] ?? "", /requirements\[1\]\.assertion\.selector: must not combine :has\(\)/);
    assert.match(results[1] ?? "", /requirements\[0\]\.assertion\.url: must be an absolute http\(s\) URL/);
    assert.match(results[2] ?? "", /assertion\.value: must be the text, where `is` is text/);
    assert.match(results[3] ?? "", /assertion\.value: must be the number of elements/);
    assert.match(results[4] ?? "", /assertion\.value: must be left out, where `is` is visible/);
    assert.match(results[5] ?? "", /requirements: must hold a requirement/);
    assert.deepEqual(await listRequirements(service, session.sessionId), []);
  });

  it("are added and changed once if a call is repeated after a crash, also after a person's change", async () => {
    const { session } = await playTurn(service, []);
    const rootSessionId = session.sessionId;
    const own = await savePicture(rootSessionId);
    const { planning } = service.container.services;
    const call = { rootSessionId, author: "agent" as const, requestId: null, runId: "run_x" };
    const adding = { ...call, callId: "call_1", requirements: [{ text: "One" }, { text: "Two" }] };
    const first = await addRequirements(planning, adding);
    assert.deepEqual(await addRequirements(planning, adding), first);
    const change = { status: "met" as const, evidenceIds: [own] };
    const meeting = { ...call, callId: "call_2", id: "r1", change };
    await updateRequirement(planning, meeting);
    const api = `/api/sessions/${rootSessionId}/requirements/r1`;
    await service.call("PATCH", api, { status: "waived" });
    const again = await updateRequirement(planning, meeting);
    assert.ok(again.ok && again.requirement.status === "waived");
    assert.equal((await listRequirements(service, rootSessionId)).length, 2);
  });

  it("number at most 100 per session", async () => {
    const many = Array.from({ length: 20 }, (_, index) => ({ text: `Part ${index}` }));
    const { session, results } = await playTurn(
      service,
      Array.from({ length: 6 }, () => add(...many)),
    );
    assert.match(
      results[5] ?? "",
      /requirements: the session has 100 and this adds 20; a session may have 100/,
    );
    assert.equal((await listRequirements(service, session.sessionId)).length, 100);
  });
});

describe("requirements of people", () => {
  it("are added, changed, waived and reopened by people, and the agent cannot undo that", async () => {
    const { session } = await playTurn(service, [add({ text: "Mine" })]);
    const path = `/api/sessions/${session.sessionId}/requirements`;
    const visit = (method: string, end: string, body: unknown) =>
      asVisitor(service, session, method, `${path}${end}`, body);
    const added = await visit("POST", "", { requirements: [{ text: "Theirs", assertion: payText }] });
    assert.equal(added.status, 201);
    assert.equal((await visit("PATCH", "/r1", { status: "waived", note: "Not now" })).status, 200);
    const results = await playFollowUp(service, session.sessionId, [
      update({ id: "r1", status: "open" }),
      update({ id: "r2", text: "Easier" }),
      update({ id: "r2", assertion: null }),
      update({ id: "r2", note: "Looked at it", assertion: payText }),
    ]);
    assert.match(results[0] ?? "", /id: r1 is waived; only people open it again/);
    assert.match(results[1] ?? "", /a person added r2; only people change its text or assertion/);
    assert.match(results[2] ?? "", /a person added r2/);
    assert.match(results[3] ?? "", /^- r2 \[open\] \(by a person\) Theirs/);
    assert.equal((await visit("PATCH", "/r1", { status: "open" })).status, 200);
    const stored = await listRequirements(service, session.sessionId);
    assert.deepEqual(
      stored.map(({ id, status, author, note }) => [id, status, author, note]),
      [
        ["r1", "open", "agent", "Not now"],
        ["r2", "open", "person", "Looked at it"],
      ],
    );
  });

  it("are not updated and have no event if a change changes nothing", async () => {
    const { session } = await playTurn(service, []);
    const path = `/api/sessions/${session.sessionId}/requirements`;
    await service.call("POST", path, { requirements: [{ text: "One", assertion: payText }] });
    const before = await listRequirements(service, session.sessionId);
    for (const same of [{ text: "One" }, { status: "open", note: "" }, { assertion: payText }])
      assert.equal((await service.call("PATCH", `${path}/r1`, same)).status, 200);
    assert.deepEqual(await listRequirements(service, session.sessionId), before);
    assert.equal(only(await readEvents(service, session.sessionId), "requirement.updated").length, 1);
  });

  it("are refused with the field if the input is invalid", async () => {
    const { session } = await playTurn(service, []);
    const path = `/api/sessions/${session.sessionId}/requirements`;
    await service.call("POST", path, { requirements: [{ text: "One" }] });
    const cases: [string, string, unknown, number, RegExp][] = [
      ["PATCH", "/r1", {}, 400, /must have a field to change/],
      ["PATCH", "/r1", { status: "met" }, 400, /^status: must be "open" or "waived"/],
      ["PATCH", "/r9", { status: "open" }, 404, /no such requirement/],
      ["PATCH", "/x", { status: "open" }, 404, /no such requirement/],
      ["PATCH", "/r1", { assertion: { ...payText, selector: "a {" } }, 400, /^assertion\.selector: /],
      ["POST", "", { requirements: [{ text: "", assertion: payText }] }, 400, /^requirements\[0\]\.text: /],
    ];
    for (const [method, end, body, status, error] of cases) {
      const answer = await service.call(method, `${path}${end}`, body);
      assert.equal(answer.status, status, `${method} ${end} ${JSON.stringify(body)}`);
      assert.match(((await answer.json()) as { error: string }).error, error);
    }
  });
});
