import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ANALYSIS_PROFILE, SANDBOX_TOOLS } from "./analysis-profile-testing.ts";
import { browserTools } from "./browser/index.ts";
import { peopleTools } from "./questions/index.ts";
import type { ToolServices } from "./services.ts";
import { transcriptTools } from "./transcript/transcript-tools.ts";
import { workspaceTools } from "./workspace/workspace-tools.ts";

// Empty objects are enough, because tools use their services only when they are called.
const services = { pages: {} } as ToolServices;
const tools = [browserTools, peopleTools, transcriptTools, workspaceTools].flatMap((make) => make(services));

describe("the tools", () => {
  it("of the analysis profile are exactly the specification's left column", () => {
    const names = tools.filter((tool) => tool.profile === "analysis").map((tool) => tool.name);
    assert.deepEqual(names.sort(), [...ANALYSIS_PROFILE].sort());
  });

  it("have unique names that every provider accepts", () => {
    const names = tools.map((tool) => tool.name);
    assert.equal(new Set(names).size, names.length);
    for (const name of names) assert.match(name, /^[a-z][a-z0-9_]{0,63}$/);
  });

  it("need the sandbox in the workspace group and the browser in the browser group", () => {
    const needing = (need: string) => tools.filter((tool) => tool.needs === need).map((tool) => tool.name);
    assert.deepEqual(needing("sandbox").sort(), [...SANDBOX_TOOLS].sort());
    assert.deepEqual(
      needing("browser").sort(),
      [...browserTools(services).map((tool) => tool.name), "request_handover"].sort(),
    );
  });

  it("are idempotent if they are read-only", () => {
    for (const tool of tools) assert.ok(!tool.readOnly || tool.idempotent, tool.name);
  });
});
