import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PeoplePort } from "../services.ts";
import { type ToolCall, unlessWaiting } from "../tool.ts";
import { elicitUserInput } from "./elicit-user-input.ts";

const callOf = (mayAskPeople: boolean, fields: Partial<ToolCall> = {}): ToolCall => ({
  sessionId: "ses_p",
  browserSessionId: "ses_p",
  rootSessionId: "ses_p",
  requestId: "req_p",
  runId: "run_p",
  callId: "call_p",
  hasTool: () => true,
  mayAskPeople,
  signal: new AbortController().signal,
  ...fields,
});

type AskResult = Awaited<ReturnType<PeoplePort["ask"]>>;

async function elicit(call: ToolCall, result: AskResult, input: object = {}) {
  const questions: Parameters<PeoplePort["ask"]>[] = [];
  const people: PeoplePort = {
    ask: async (...args) => {
      questions.push(args);
      return result;
    },
  };
  const answer = await elicitUserInput({ people }).execute({ question: "Which colour?", ...input }, call);
  return { questions, answer };
}
async function read(call: ToolCall, result: AskResult, input: object = {}) {
  const { questions, answer } = await elicit(call, result, input);
  const { isError, content } = unlessWaiting(answer);
  const [first] = content;
  return { questions, text: first?.type === "text" ? first.text : "", isError };
}
const red = { state: "answered", answer: "red" } as const;
const DAY_MS = 86_400_000;

describe("elicit_user_input", () => {
  it("on a turn that no person started, answers at once that no person is there and asks nothing", async () => {
    const { questions, text, isError } = await read(callOf(false), red);
    assert.deepEqual(questions, []);
    assert.equal(isError, false);
    assert.match(text, /No person can answer.*assumption/);
  });

  it("answers the same outside of a turn", async () => {
    const { questions, text } = await read(callOf(true, { runId: null }), red);
    assert.deepEqual([questions, text.split(":")[0]], [[], "No person can answer"]);
  });

  it("waits while the question is open, until its deadline: one day by default, at most seven", async () => {
    const expiresAt = new Date("2026-11-24T00:00:00Z");
    const open = { state: "open", id: "eli_1", expiresAt } as const;
    const options = ["red", "blue"];
    const { questions, answer } = await elicit(callOf(true), open, { options });
    assert.deepEqual(answer, {
      status: "waiting",
      on: { kind: "person", subjects: ["eli_1"], deadlineAt: expiresAt },
    });
    assert.deepEqual(questions[0]?.[1], {
      question: "Which colour?",
      options,
      form: null,
      timeoutMs: DAY_MS,
    });
    const long = await elicit(callOf(true), open, { timeoutSeconds: 604_800 });
    assert.equal(long.questions[0]?.[1].timeoutMs, 7 * DAY_MS);
    for (const timeoutSeconds of [9, 604_801, 60.5])
      await assert.rejects(elicit(callOf(true), open, { timeoutSeconds }));
  });

  it("returns the answer: text, or a form's values", async () => {
    assert.equal((await read(callOf(true), red)).text, "The person answered: red");
    const values = { state: "answered", answer: { email: "ada@shop.example", count: 2 } } as const;
    const form = { properties: { email: { type: "string" }, count: { type: "integer" } } };
    const { text } = await read(callOf(true), values, { form });
    assert.equal(text, 'The person answered: {"email":"ada@shop.example","count":2}');
  });

  it("passes on how the wait ended, so that an open question is settled", async () => {
    const { questions, text } = await read(callOf(true, { waitEndedBy: "message" }), {
      state: "withdrawn",
    });
    assert.equal(questions[0]?.[2], "message");
    assert.match(text, /^Interrupted by a message/);
  });

  it("a declined or unanswered question tells the model to continue with a stated assumption", async () => {
    assert.match((await read(callOf(true), { state: "declined" })).text, /declined.*assumption/);
    const late = await read(callOf(true), { state: "unanswered" });
    assert.match(late.text, /No person answered in time.*assumption/);
  });

  it("takes two to eight options, or none", async () => {
    await assert.rejects(elicit(callOf(true), red, { options: ["one"] }));
    await assert.rejects(elicit(callOf(true), red, { options: Array(9).fill("x") }));
    assert.equal((await elicit(callOf(true), red)).questions[0]?.[1].options, null);
  });

  for (const [what, form, message] of [
    ["no fields", { properties: {} }, /at least one field/],
    ["a nested object", { properties: { a: { type: "object" } } }, /properties\.a\.type/],
    ["an unknown keyword", { properties: { a: { type: "string", pattern: "x" } } }, /pattern/],
    ["a choice without choices", { properties: { a: { type: "array" } } }, /properties\.a\.items/],
    [
      "a default that does not fit",
      { properties: { a: { type: "integer", maximum: 5, default: 6 } } },
      /must be at most 5/,
    ],
    ["bounds that contradict", { properties: { a: { type: "number", minimum: 2, maximum: 1 } } }, /minimum/],
    [
      "a required field that it does not have",
      { properties: { a: { type: "string" } }, required: ["b"] },
      /required\[0\]/,
    ],
  ] as const)
    it(`refuses a form with ${what}, and asks nothing`, async () => {
      const { questions, text, isError } = await read(callOf(true), red, { form });
      assert.deepEqual([questions, isError], [[], true]);
      assert.match(text, /^The form is not valid, so the question was not asked:/);
      assert.match(text, message);
    });

  it("refuses options together with a form", async () => {
    const form = { properties: { a: { type: "string" } } };
    const { questions, text } = await read(callOf(true), red, { form, options: ["x", "y"] });
    assert.deepEqual(
      [questions, text],
      [[], "Give options or a form, not both. The question was not asked."],
    );
  });
});
