import assert from "node:assert/strict";
import { test } from "node:test";
import { readDemoTask } from "./demo-task.ts";

test("a task is read from the words of a message", () => {
  assert.deepEqual(readDemoTask("what does its checkout ask for?").wants, ["fields"]);
  assert.equal(readDemoTask("what does its checkout ask for?").destination?.word, "checkout");
  assert.deepEqual(readDemoTask("how many forms are there?").wants, ["fields", "forms"]);
  assert.deepEqual(readDemoTask("How much do the products cost?").wants, ["prices"]);
  assert.equal(readDemoTask("take a screenshot").wantsScreenshot, true);
  assert.equal(readDemoTask("see (https://a.example/x).").url, "https://a.example/x");
  assert.equal(readDemoTask("Target page: https://a.example/\nhello").url, undefined);
  assert.equal(readDemoTask("good morning").isUnderstood, false);
});
