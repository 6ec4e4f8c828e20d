import assert from "node:assert/strict";
import { test } from "node:test";
import { createEventStreamParser, type StreamMessage } from "./parse-event-stream.ts";

const ROWS: [string, string, StreamMessage[]][] = [
  ["a message with all fields", "id: 1\nevent: a\ndata: x\n\n", [{ id: "1", event: "a", data: "x" }]],
  ["lines of data are joined", "data: x\ndata: y\n\n", [{ data: "x\ny" }]],
  [
    "every kind of line end",
    "data: x\r\n\r\ndata: y\r\rdata: z\n\n",
    [{ data: "x" }, { data: "y" }, { data: "z" }],
  ],
  ["comments and unknown fields are ignored", ": keep-alive\n\nfoo: bar\ndata: x\n\n", [{ data: "x" }]],
  ["only one space after the colon is dropped", "data:  x\n\ndata:y\n\n", [{ data: " x" }, { data: "y" }]],
  ["a field without a colon is empty", "data\n\n", [{ data: "" }]],
  ["a message without data is dropped", "event: a\n\n", []],
  ["an incomplete message is not returned", "data: x\n", []],
  ["a byte order mark is dropped", "\uFEFFdata: x\n\n", [{ data: "x" }]],
];

for (const [title, text, expected] of ROWS)
  test(`${title}, however it is cut`, () => {
    const whole = createEventStreamParser();
    assert.deepEqual(whole.feed(text), expected);
    const pieces = createEventStreamParser();
    assert.deepEqual(
      [...text].flatMap((piece) => pieces.feed(piece)),
      expected,
    );
  });

test("the delay before a reconnect is parsed", () => {
  const parser = createEventStreamParser();
  parser.feed("retry: 250\nretry: soon\n\n");
  assert.equal(parser.retryMs(), 250);
});
