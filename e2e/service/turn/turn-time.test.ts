import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { runs } from "#db/schema/index.ts";
import { openTestService, type TestService, waitUntil } from "../testing.ts";
import { only, readEvents, readStatus } from "./turn-testing.ts";

const shell = (command: string, more: Record<string, unknown> = {}) => ({
  toolCalls: [{ name: "run_shell", arguments: { command, ...more } }],
});
/** A command that may take longer than an executor has. */
const LONG = { timeoutMs: 120_000 };
const schema = { type: "object", properties: { price: { type: "number" } }, required: ["price"] };

/** Returns how many executors have claimed a run. */
async function countClaims(service: TestService, runId: string): Promise<number> {
  const [run] = await service.container.services.db.select().from(runs).where(eq(runs.id, runId));
  return run?.epoch ?? 0;
}

describe("a step that may not fit into the rest of a function's time", () => {
  let service: TestService;
  // An executor has 90 s: this limit without the time for the end of the call.
  before(async () => {
    service = await openTestService({ TURN_LIMIT_MS: "100000", SANDBOX: "unconfined" });
  });
  after(() => service.close());

  async function play(...steps: object[]) {
    let calls = 0;
    service.model.respondWith(() => steps[calls++] ?? { text: "Done." });
    const session = await service.create("Work");
    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    return { claims: await countClaims(service, session.runId), results: only(events, "tool.result") };
  }

  it("is left to the next call, and is played there although it is longer than any call", async () => {
    const { claims, results } = await play(shell("echo one", LONG), shell("echo two", LONG));
    assert.deepEqual(
      results.map(({ state, preview }) => [state, preview.split("\n")[0]]),
      [
        ["succeeded", "one"],
        ["succeeded", "two"],
      ],
    );
    assert.equal(claims, 3, "each command begins with the whole time of a call");
  });

  it("is begun if its own deadline is short enough, or if the tool needs little time", async () => {
    const { claims } = await play(shell("true", { timeoutMs: 1_000 }), {
      toolCalls: [{ name: "list_files", arguments: {} }],
    });
    assert.equal(claims, 1);
  });

  it("is not begun after another call of the same answer, and both run once", async () => {
    const both = [shell("echo a >> log", LONG), shell("echo b >> log; cat log", LONG)];
    const toolCalls = both.flatMap((step) => step.toolCalls);
    const { claims, results } = await play({ toolCalls });
    assert.equal(results[1]?.preview.startsWith("a\nb\n"), true);
    assert.equal(claims, 3);
  });
});

describe("a step that is longer than a function's time", () => {
  let service: TestService;
  // An executor has 2 s.
  before(async () => {
    service = await openTestService({ TURN_LIMIT_MS: "12000", SANDBOX: "unconfined" });
  });
  after(() => service.close());

  it("of a tool ends before the platform ends the function, and the model is told", async () => {
    let calls = 0;
    service.model.respondWith(() => (calls++ === 0 ? shell("sleep 300") : { text: "Gave up." }));
    const session = await service.create("Wait");
    await service.completed(session.statusUrl);
    const events = await readEvents(service, session.sessionId);
    assert.match(only(events, "tool.result")[0]?.preview ?? "", /^Timed out after [12](\.\d)? s\.$/);
    assert.equal(only(events, "run.completed")[0]?.outcome, "succeeded");
  });

  it("of a model that does not answer is called again by the next function call", async () => {
    const requestCount = service.model.requests.length;
    let calls = 0;
    service.model.respondWith(() =>
      calls++ === 0 ? { text: "Held.", hold: new Promise(() => {}) } : { text: "Answered." },
    );
    const session = await service.create("Answer");
    await service.completed(session.statusUrl);
    const [held] = service.model.requests.slice(requestCount);
    await waitUntil(() => held?.outcome === "client-left", "the first call was ended");
    const events = await readEvents(service, session.sessionId);
    assert.equal(only(events, "run.completed")[0]?.outcome, "succeeded");
    assert.equal(only(events, "run.started").length, 1, "the run was paused, not retried");
    assert.ok((await countClaims(service, session.runId)) > 1);
  });

  it("of a structured call is made again by the next function call", async () => {
    let structured = 0;
    service.model.respondWith(({ kind }) =>
      kind === "turn"
        ? { text: "Found it." }
        : kind === "structured" && structured++ === 0
          ? { json: { price: 0 }, hold: new Promise(() => {}) }
          : { json: { price: 3 } },
    );
    const session = await service.create("What is the price?", { outputSchema: schema });
    await service.completed(session.statusUrl);
    const { deliverable } = await readStatus(service, session.sessionId);
    assert.deepEqual([deliverable?.status, structured], ["ready", 2]);
  });
});
