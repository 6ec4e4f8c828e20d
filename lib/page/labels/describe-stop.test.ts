import assert from "node:assert/strict";
import { test } from "node:test";
import { describeStop } from "./describe-stop.ts";

test("a stop says who stopped the turn", () => {
  const of = (
    stop: Parameters<typeof describeStop>[1]["stops"][string] | undefined,
    ownStops: string[] = [],
  ) => describeStop("run_1", { ownStops, stops: stop ? { run_1: stop } : {} });
  assert.equal(of({ by: "person", name: null }, ["run_1"]), "You stopped the turn");
  assert.equal(of(undefined, ["run_1"]), "You stopped the turn");
  assert.equal(of({ by: "person", name: "QA team" }), "Stopped by QA team");
  assert.equal(of({ by: "person", name: null }), "Stopped by a person");
  assert.equal(of({ by: "program", name: null }, ["run_1"]), "Stopped by a program");
  assert.equal(of({ by: "message", name: null }), "Interrupted by a message");
  assert.equal(of(undefined), "Stopped");
});
