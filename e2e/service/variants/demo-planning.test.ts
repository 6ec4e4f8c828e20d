import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { VariantDocument } from "#lib/variant/document.ts";
import { editAsPerson, readPlan, sayGo, setMode } from "../planning/planning-testing.ts";
import { only } from "../turn/turn-testing.ts";
import { type DemoService, openDemoService, UNCHECKED } from "./demo-testing.ts";

let demo: DemoService;
before(async () => {
  demo = await openDemoService();
});
after(() => demo.close());

type Listed = { id: string; state: string; stateReason: string | null };

/** Returns the state of a session from the list of sessions; undefined if the session is not listed. */
async function findListed(sessionId: string): Promise<Pick<Listed, "state" | "stateReason"> | undefined> {
  const { data } = await demo.service.read<{ data: Listed[] }>("/api/sessions");
  const listed = data.find(({ id }) => id === sessionId);
  return listed && { state: listed.state, stateReason: listed.stateReason };
}

const readItems = async (sessionId: string) =>
  (await readPlan(demo.service, sessionId)).items.map(({ text, status }) => `${status}: ${text}`);

/** Agrees to the plan (the action "go") as a person on the session page, and waits for the end of the turn. */
async function agree(session: { sessionId: string; shareUrl: string }, text?: string) {
  const { revision } = await readPlan(demo.service, session.sessionId);
  const answer = await sayGo(demo.service, session, revision, text);
  assert.ok(answer.ok, await answer.clone().text());
  const { requestId } = (await answer.json()) as { requestId: string };
  return demo.ended(session.sessionId, requestId);
}

describe("the demo model under plan first", () => {
  it("writes a plan, waits, and carries it out once a person has agreed", async () => {
    const session = await demo.start("which headings does this page have?");
    const { sessionId } = session;
    await setMode(demo.service, sessionId, "plan_first");
    const task = "Make the headline say 'Winter sale' and hide the banner.";
    const planned = await demo.say(sessionId, task);
    assert.deepEqual(
      planned.tools.filter((name) => name === "apply_variant"),
      [],
    );
    assert.ok(only(planned.events, "tool.result").every(({ state }) => state === "succeeded"));
    assert.deepEqual(await readItems(sessionId), [
      "todo: Make the headline say “Winter sale”",
      "todo: Hide the banner",
    ]);
    assert.match(planned.answer, /^Plan first is on, so I have changed nothing\./);
    assert.match(planned.answer, /\n\nI wait for your go: /);
    assert.deepEqual(planned.completed.variants, []);
    assert.deepEqual(await findListed(sessionId), {
      state: "waiting",
      stateReason: "The plan waits for a go-ahead.",
    });

    // The person drops the second item of the plan and rewrites the first one.
    const [first, second] = (await readPlan(demo.service, sessionId)).items;
    assert.ok(first && second);
    await editAsPerson(
      demo.service,
      session,
      { action: "setStatus", id: second.id, status: "dropped" },
      { action: "setText", id: first.id, was: first.text, text: "Make the headline say “Spring sale”" },
    );
    const carried = await agree(session);
    assert.match(carried.answer, /^Plan: 1 of 1 carried out\.\n\nStored revision 1 of variant main\./);
    assert.deepEqual(await readItems(sessionId), [
      "done: Make the headline say “Spring sale”",
      "dropped: Hide the banner",
    ]);
    const statuses = only(carried.events, "plan.updated").map(({ plan }) => plan.items[0]?.status);
    assert.deepEqual(statuses.slice(-2), ["in_progress", "done"]);
    const { revision } = await demo.service.read<{ revision: { document: VariantDocument } }>(
      `/api/sessions/${sessionId}/variants/main/revisions/1`,
    );
    assert.deepEqual(
      revision.document.pages.flatMap(({ changes }) => changes.map(({ op }) => op)),
      ["setText"],
    );
    assert.deepEqual(await findListed(sessionId), { state: "done", stateReason: null });

    // In the mode "agreed", the agent carries out the next request without a plan.
    const next = await demo.say(sessionId, "hide the footer");
    assert.match(next.answer, /^Stored revision 2 of variant main\./);
  });

  it("plans changes of another page without opening it, and opens it after the go", async () => {
    const session = await demo.start("which headings does this page have?", UNCHECKED);
    const { sessionId } = session;
    await setMode(demo.service, sessionId, "plan_first");
    const { tools, answer } = await demo.say(
      sessionId,
      "On the checkout page, rename the button 'Place order' to 'Pay now' and make it green",
    );
    assert.deepEqual(tools, ["update_plan"]);
    assert.match(answer, /I have not looked for these elements yet/);
    assert.deepEqual(await readItems(sessionId), [
      "todo: On the checkout page, rename the button “Place order” to “Pay now”",
      "todo: On the checkout page, make the button “Place order” green",
    ]);
    const carried = await agree(session, "and add a note 'Free returns' below the headline");
    assert.match(carried.answer, /^Plan: 2 of 2 carried out\./);
    assert.match(carried.answer, /“Place order” → “Pay now”/);
    assert.match(carried.answer, /Free returns/);
    assert.ok((await readItems(sessionId)).every((item) => item.startsWith("done: ")));
  });
});
