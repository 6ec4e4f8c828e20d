import assert from "node:assert/strict";
import { test } from "node:test";
import type { QuestionView } from "../state/view-types.ts";
import { describeAnswer } from "./describe-answer.ts";

const question: QuestionView = {
  elicitationId: "eli_1",
  toolCallId: "call_1",
  question: "Where to?",
  form: null,
  state: "answered",
  answer: null,
};

test("an answer is shown by its fields", () => {
  assert.deepEqual(describeAnswer({ ...question, answer: "Home" }).answers, [
    { name: "Answer", value: "Home" },
  ]);
  const form = {
    type: "object" as const,
    properties: {
      city: { type: "string" as const, title: "City" },
      gift: { type: "boolean" as const },
    },
    required: [],
  };
  assert.deepEqual(
    describeAnswer({ ...question, form, answer: { city: "Kiel", gift: false, extras: ["card", "bow"] } })
      .answers,
    [
      { name: "City", value: "Kiel" },
      { name: "gift", value: "No" },
      { name: "extras", value: "card, bow" },
    ],
  );
});

test("a question without an answer says why", () => {
  const note = (state: QuestionView["state"]) => describeAnswer({ ...question, state }).note;
  assert.equal(note("open"), "Waiting for an answer");
  assert.equal(note("declined"), "Declined");
  assert.equal(note("unanswered"), "Not answered in time");
  assert.match(note("withdrawn") ?? "", /^Withdrawn/);
});
