import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createFrameCommands } from "./frame-commands.ts";
import type { HostCommand } from "./frame-messages.ts";

function create() {
  const posted: HostCommand[] = [];
  return { posted, commands: createFrameCommands((command) => posted.push(command)) };
}

describe("commands to a frame", () => {
  test("wait until the frame is ready, are sent once and get their own results", async () => {
    const { posted, commands } = create();
    const first = commands.run({ type: "send", text: "one" });
    const second = commands.run({ type: "takeOver" });
    assert.deepEqual(posted, []);
    commands.resume();
    commands.resume();
    assert.deepEqual(
      posted.map(({ type }) => type),
      ["send", "takeOver"],
    );
    const [one, two] = posted.map(({ id }) => id);
    const accepted = { requestId: "req_a", runId: "run_a", queued: false };
    commands.settle({ type: "result", id: two ?? "", isDone: false, error: "no browser" });
    commands.settle({ type: "result", id: one ?? "", isDone: true, accepted });
    commands.settle({ type: "result", id: "unknown", isDone: true, accepted: null });
    assert.deepEqual(await first, accepted);
    await assert.rejects(second, { message: "no browser" });
  });

  test("are sent again with their ids when the frame has loaded again, and have ids of their own", async () => {
    const { posted, commands } = create();
    commands.resume();
    const settled = commands.run({ type: "takeOver" });
    const open = commands.run({ type: "send", text: "one" });
    const [first, second] = posted;
    commands.settle({ type: "result", id: first?.id ?? "", isDone: true, accepted: null });
    await settled;
    commands.restart();
    const later = commands.run({ type: "giveBack" });
    assert.equal(posted.length, 2);
    commands.resume();
    assert.deepEqual(posted.slice(2), [second, { type: "giveBack", id: posted[3]?.id }]);
    commands.fail("gone");
    await Promise.allSettled([open, later]);
    const other = create();
    other.commands.resume();
    void other.commands.run({ type: "takeOver" });
    assert.notEqual(other.posted[0]?.id, first?.id);
    other.commands.settle({ type: "result", id: other.posted[0]?.id ?? "", isDone: true, accepted: null });
  });

  test("reject when they are too many, and when the frame goes away", async () => {
    const { commands } = create();
    const waiting = Array.from({ length: 100 }, () => commands.run({ type: "takeOver" }));
    await assert.rejects(commands.run({ type: "takeOver" }), {
      message: "too many commands wait for their result",
    });
    commands.fail("gone");
    const outcomes = await Promise.allSettled(waiting);
    assert.ok(
      outcomes.every((outcome) => outcome.status === "rejected" && outcome.reason.message === "gone"),
    );
  });

  test("reject without an answer in time", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { commands } = create();
    commands.resume();
    const late = commands.run({ type: "takeOver" });
    t.mock.timers.tick(60_000);
    await assert.rejects(late, { message: "the frame did not answer in time" });
  });
});
