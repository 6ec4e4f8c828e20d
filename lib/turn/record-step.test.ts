import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Claim } from "./claim.ts";
import { findRecorded } from "./record-step.ts";
import { createRunMemory } from "./run-memory.ts";
import { createStopRegistry } from "./stop-registry.ts";
import type { TurnDeps } from "./turn-deps.ts";

const claim: Claim = {
  ...{ runId: "run_1", epoch: 1, sessionId: "ses_1", requestId: "req_1", attempt: 1 },
  ...{ origin: "external", source: "api", isStructured: false },
};

/** A turn that remembers one step of a run that this process plays; nothing else of it is asked. */
function rememberStep() {
  const memory = createRunMemory();
  const stops = createStopRegistry();
  memory.begin(claim);
  memory.of(claim)?.set("model-1", "its output");
  return { stops, turn: { memory, stops } as unknown as TurnDeps };
}

describe("a step that is remembered", () => {
  it("tells of a stop that was asked for since", async () => {
    const { stops, turn } = rememberStep();
    const before = await findRecorded(turn, claim, "model-1");
    stops.stop(claim.runId, "by hand");
    const after = await findRecorded(turn, claim, "model-1");
    assert.deepEqual(
      [before, after],
      [...[{ output: "its output", isStopped: false }], ...[{ output: "its output", isStopped: true }]],
    );
  });

  it("does not take the end of the process for a stop: the turn goes on in the next one", async () => {
    const { stops, turn } = rememberStep();
    stops.shutDown();
    assert.deepEqual(await findRecorded(turn, claim, "model-1"), { output: "its output", isStopped: false });
  });
});
