import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compileExpression } from "./expression.ts";

const scope = {
  event: { name: "go", data: { id: "a", n: 3, tags: ["x", "y"], nested: { "a-b": true }, off: false } },
  async: { name: "answer", data: { id: "a", n: 5 } },
};

describe("compileExpression", () => {
  for (const [source, value] of [
    ["event.data.id == async.data.id", true],
    ["event.data.n < async.data.n && async.data.n >= 5", true],
    ["event.data.n > 3 || event.data.id == 'b'", false],
    ["!(event.data.id == 'b')", true],
    ["!event.data.off", true],
    ["event.data.missing == null", true],
    ["event.data.missing.deeper != 1", true],
    ["event.data.tags[1] == 'y'", true],
    ["'x' in event.data.tags", true],
    ["event.data.id in ['b', \"c\"]", false],
    ["event.data.nested['a-b']", true],
    ["event.data.n == -3", false],
    ["event.data.n == 3.0", true],
    ["event.name == 'it\\'s'", false],
    ["event.data.id < 4", false],
    ["event.data.toString == null", true],
    ["true || false && false", true],
  ] as const)
    it(`${source} is ${value}`, () => assert.equal(compileExpression(source)(scope), value));

  for (const source of [
    "",
    "event.",
    "event.data.id =",
    "(event.data.id",
    "size(event.data.tags)",
    "event data",
    "process.env",
    "event.data.n + 1",
  ])
    it(`"${source}" is refused`, () => assert.throws(() => compileExpression(source), /expression/));
});
