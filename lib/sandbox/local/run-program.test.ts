import assert from "node:assert/strict";
import { it } from "node:test";
import { refused } from "../sandbox-fixture.ts";
import type { Program } from "../sandbox-service.ts";
import { createConfinedStage } from "./run-program.ts";

it("looks for Node again after a failed probe, and not after a successful one", async () => {
  let exitCode = 1;
  let probes = 0;
  const plan = () => {
    probes += 1;
    return { file: "sh", args: ["-c", `exit ${exitCode}`], env: {} };
  };
  const stage = createConfinedStage({ plan, sharedUser: undefined }, "/tmp");
  const program: Program = { runtime: "node", script: "a.mjs", args: [], files: [] };
  const place = { folder: "/tmp", cpuSeconds: 1, user: undefined, joinPath: undefined };
  await assert.rejects(stage(program, place), refused(/^node is not installed in the sandbox$/));
  exitCode = 0;
  await stage(program, place);
  const probesBefore = probes;
  await stage(program, place);
  // `plan` was called once more, for the program: Node was not probed again.
  assert.equal(probes, probesBefore + 1);
});
