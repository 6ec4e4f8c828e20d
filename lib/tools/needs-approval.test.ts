import assert from "node:assert/strict";
import { test } from "node:test";
import { needsApproval } from "./tool-policy.ts";

const tool = (name: string, more: { profile?: "always" | "editing"; isDestructive?: boolean } = {}) => ({
  profile: "editing" as const,
  ...more,
  name,
});

test("a call needs approval if its tool is named, exactly or by a prefix", () => {
  assert.equal(needsApproval(["run_shell"], tool("run_shell")), true);
  assert.equal(needsApproval(["mcp_crm__*"], tool("mcp_crm__pay")), true);
  assert.equal(needsApproval(["*"], tool("write_file")), true);
  for (const approve of [undefined, [], ["run_shel"], ["run_shell_more"], ["mcp_crm__*"]])
    assert.equal(needsApproval(approve, tool("run_shell")), false, String(approve));
});

test("@destructive stands for destructive tools of callers' servers, and for nothing else", () => {
  assert.equal(needsApproval(["@destructive"], tool("mcp_crm__pay", { isDestructive: true })), true);
  assert.equal(needsApproval(["@destructive"], tool("mcp_crm__look", { isDestructive: false })), false);
  assert.equal(needsApproval(["@destructive"], tool("run_shell")), false);
});

test("tools outside the policy need no approval", () => {
  assert.equal(needsApproval(["*", "update_plan"], tool("update_plan", { profile: "always" })), false);
});
