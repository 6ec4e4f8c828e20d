import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ROOT_TOOLS } from "#lib/catalogue/tools.ts";
import { REPORT } from "../reports/reports-testing.ts";
import { listMissing, UNUSED_BROWSER } from "../testing.ts";
import { readOffered } from "../variants/variants-testing.ts";
import { callTool, listNames, type McpService, openMcpService } from "./builtin-mcp-testing.ts";

let mcp: McpService;
before(async () => {
  mcp = await openMcpService(UNUSED_BROWSER);
});
after(() => mcp.close());

const INPUTS: Record<string, Record<string, unknown>> = {
  update_plan: { items: [{ text: "Look", status: "todo" }] },
  publish_variant: { variant: "main" },
  deploy_landing_page: { folder: "site" },
  publish_qa_report: REPORT,
  import_legacy_session: { document: {} },
  run_tests: {},
  wait_for_test_results: {},
  list_annotations: {},
  resolve_annotation: { id: "ann_1", resolution: "Done." },
};

describe("tools that act for the whole session", () => {
  it("are not offered to the holder of an MCP token, and calling one is refused without effect", async () => {
    const { sessionId, statusUrl } = await mcp.service.create("Say something.");
    await mcp.service.completed(statusUrl);
    const client = await mcp.connect(await mcp.requestToken(sessionId));
    const names = await listNames(client);
    assert.ok(names.includes("list_transcript"));
    const ofAgent = readOffered(mcp.service);
    for (const name of ROOT_TOOLS) {
      assert.equal(ofAgent.includes(name), !listMissing(mcp).includes(name), name);
      assert.ok(!names.includes(name), name);
      const input = INPUTS[name] ?? assert.fail(`no input for ${name}`);
      await assert.rejects(callTool(client, name, input), new RegExp(`there is no tool named ${name}`));
    }
    for (const list of ["variants", "reports", "pages", "imports", "tests"])
      assert.deepEqual(
        (await mcp.service.read<{ data: unknown[] }>(`/api/sessions/${sessionId}/${list}`)).data,
        [],
        list,
      );
    const { plan } = await mcp.service.read<{ plan: { revision: number } }>(
      `/api/sessions/${sessionId}/plan`,
    );
    assert.equal(plan.revision, 0);
  });
});
