import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { programSuite } from "./program-suite-testing.ts";
import { makeSandboxFixture, options, refused } from "./sandbox-fixture.ts";

const { make, sandboxes, isConfined, remove } = await makeSandboxFixture();
after(remove);
let count = 0;
const newId = () => `ses_program${++count}`;

describe("programs in the local sandbox", () => {
  if (isConfined) programSuite(() => sandboxes.open(newId()), { isReadOnly: true, isConfined: true });
  else
    it("are refused if commands cannot be confined", async () => {
      const workspace = await sandboxes.open(newId());
      const program = { runtime: "node", script: "a.mjs", args: [], files: [] } as const;
      await assert.rejects(workspace.runProgram(program, options()), refused(/cannot run here/));
    });
});

const unconfined = await make("unconfined");
describe("programs without confinement", () => {
  programSuite(() => unconfined.open(newId()), { isReadOnly: false, isConfined: false });
});
