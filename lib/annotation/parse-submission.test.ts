import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSubmission } from "./parse-submission.ts";

const submit = (more: object = {}) => ({ event: "submit", annotations: [], ...more });

test("the specification's submission is accepted", () => {
  const body = {
    event: "submit",
    output: "# Feedback",
    annotations: [{ type: "element", selector: "main > h1", comment: "Larger, please" }],
    url: "https://shop.example/checkout?step=2",
  };
  assert.deepEqual(parseSubmission(body), { ok: true, submission: body });
});

test("the payload of the agentation overlay is accepted unchanged", () => {
  const annotation = {
    id: "1706234567890",
    comment: "Cut off",
    element: "button",
    timestamp: 1706234567890,
    x: 12.5,
    elementPath: "body > main > button",
    isMultiSelect: false,
    boundingBox: { x: 1, y: 2 },
  };
  const page = { timestamp: 1706234567890, url: "https://example.com/page" };
  for (const body of [
    { event: "submit", ...page, output: "# Page Feedback", annotations: [annotation] },
    { event: "annotation.add", ...page, annotation },
    { event: "annotations.clear", ...page, annotations: [annotation] },
  ])
    assert.deepEqual(parseSubmission(body), { ok: true, submission: body });
});

test("an empty list of annotations, and a URL that is not http, are accepted", () => {
  assert.equal(parseSubmission(submit()).ok, true);
  assert.equal(parseSubmission(submit({ url: "about:blank" })).ok, true);
});

const refused: [name: string, body: unknown, error: RegExp][] = [
  ["an array", [], /^body: must be an object$/],
  ["null", null, /^body: /],
  ["a string", "submit", /^body: /],
  ["no event", {}, /^event: must be a non-empty string$/],
  ["an empty event", { event: "" }, /^event: /],
  ["a number as event", { event: 1 }, /^event: /],
  ["a submit without annotations", { event: "submit" }, /^annotations: is required$/],
  ["annotations that are an object", submit({ annotations: {} }), /^annotations: must be an array$/],
  ["annotations that are null", submit({ annotations: null }), /^annotations: must be an array$/],
  [
    "a string among the annotations",
    submit({ annotations: [{}, "x"] }),
    /^annotations\[1\]: must be an object$/,
  ],
  ["an array among the annotations", submit({ annotations: [[]] }), /^annotations\[0\]: must be an object$/],
  ["a numeric type", submit({ annotations: [{ type: 1 }] }), /^annotations\[0\]\.type: must be a string$/],
  ["a null selector", submit({ annotations: [{ selector: null }] }), /^annotations\[0\]\.selector: /],
  ["a comment that is a list", submit({ annotations: [{ comment: [] }] }), /^annotations\[0\]\.comment: /],
  ["an output that is an object", submit({ output: {} }), /^output: must be a string$/],
  ["a relative url", submit({ url: "/checkout" }), /^url: must be an absolute URL$/],
  ["an empty url", submit({ url: "" }), /^url: /],
  ["a numeric url", submit({ url: 5 }), /^url: /],
  ["a NUL character", submit({ note: { deep: ["a\0b"] } }), /^body: must be well-formed Unicode/],
  ["a lone surrogate in a key", submit({ "\ud800": 1 }), /^body: must be well-formed Unicode/],
];

for (const [name, body, error] of refused)
  test(`${name} is refused, and the error names the field`, () => {
    const parsed = parseSubmission(body);
    assert.ok(!parsed.ok);
    assert.match(parsed.error, error);
  });
