import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RUN_ORIGINS } from "#db/schema/unions.ts";
import type { ElicitationOutcome, PeoplePort } from "../services.ts";
import type { ToolCall } from "../tool.ts";
import { elicitUserInput } from "./elicit-user-input.ts";

const callOf = (origin: ToolCall["origin"]): ToolCall => ({
  sessionId: "ses_p",
  requestId: "req_p",
  runId: "run_p",
  callId: "call_p",
  origin,
  signal: new AbortController().signal,
});

async function elicit(origin: ToolCall["origin"], outcome: ElicitationOutcome, input: object = {}) {
  const asked: Parameters<PeoplePort["ask"]>[1][] = [];
  const people: PeoplePort = {
    ask: async (_, question) => {
      asked.push(question);
      return outcome;
    },
  };
  const tool = elicitUserInput({ people });
  const result = await tool.execute({ question: "Which colour?", ...input }, callOf(origin));
  const [content] = result.content;
  return { asked, text: content?.type === "text" ? content.text : "", isError: result.isError };
}

describe("elicit_user_input", () => {
  for (const origin of RUN_ORIGINS.filter((each) => each !== "person")) {
    it(`on a turn of origin ${origin} it says at once that nobody is there, and asks nobody`, async () => {
      const { asked, text, isError } = await elicit(origin, { state: "answered", answer: "red" });
      assert.deepEqual(asked, []);
      assert.equal(isError, false);
      assert.match(text, /Nobody is there.*assumption/);
    });
  }

  it("on a person's turn it asks, with a deadline of ten minutes, and hands back the answer", async () => {
    const options = ["red", "blue"];
    const { asked, text } = await elicit("person", { state: "answered", answer: "red" }, { options });
    assert.deepEqual(asked, [{ question: "Which colour?", options, timeoutMs: 600_000 }]);
    assert.equal(text, "The person answered: red");
  });

  it("a declined or unanswered question tells the model to go on with a stated assumption", async () => {
    assert.match((await elicit("person", { state: "declined" })).text, /declined.*assumption/);
    const late = await elicit("person", { state: "unanswered", reason: "ten minutes have passed" });
    assert.match(late.text, /ten minutes have passed.*assumption/);
  });

  it("takes two to eight options, or none", async () => {
    const outcome = { state: "declined" } as const;
    await assert.rejects(elicit("person", outcome, { options: ["one"] }));
    await assert.rejects(elicit("person", outcome, { options: Array(9).fill("x") }));
    assert.equal((await elicit("person", outcome)).asked[0]?.options, null);
  });
});
