import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { readOffered as readOfferedBy, spawn, wait } from "../agents/agents-testing.ts";
import { callTool, listNames, type McpService, openMcpService } from "../mcp-server/builtin-mcp-testing.ts";
import { playFollowUp, playTurn, readOffered, scriptTurn, step } from "../variants/variants-testing.ts";
import { plan, setMode, todo } from "./planning-testing.ts";

const PLANNING = ["update_plan", "add_requirements", "update_requirement", "list_requirements"];
const outputSchema = { type: "object", properties: { title: { type: "string" } } };

let mcp: McpService;
before(async () => {
  mcp = await openMcpService({ SANDBOX: "unconfined" });
});
after(() => mcp.close());

/** Plays the first turn of a session. @returns the planning tools that the model was offered. */
async function offer(profile: Record<string, unknown>): Promise<string[]> {
  await playTurn(mcp.service, [], profile);
  const offered = readOffered(mcp.service);
  return PLANNING.filter((name) => offered.includes(name));
}

describe("the set of planning tools", () => {
  it("is complete in editing and in structured sessions", async () => {
    assert.deepEqual(await offer({}), PLANNING);
    assert.deepEqual(await offer({ outputSchema }), PLANNING);
  });

  for (const name of PLANNING) {
    it(`does not depend on the policy for ${name}, in editing and in structured sessions`, async () => {
      for (const kind of [{}, { outputSchema }]) {
        assert.deepEqual(await offer({ ...kind, tools: { exclude: [name] } }), PLANNING);
        assert.deepEqual(await offer({ ...kind, tools: { exclude: ["*"] } }), PLANNING);
        assert.deepEqual(await offer({ ...kind, tools: { externalTurnExclude: [name] } }), PLANNING);
        assert.deepEqual(await offer({ ...kind, tools: { include: [name] } }), PLANNING);
      }
    });
  }

  it("does not depend on capabilities", async () => {
    for (const kind of [{}, { outputSchema }])
      assert.deepEqual(await offer({ ...kind, capabilities: { browser: false, sandbox: false } }), PLANNING);
  });

  it("has for sub-agents only the tools for the requirements, which they share with their root", async () => {
    scriptTurn(mcp.service, "hand over", [
      { toolCalls: [spawn({ objective: "do the part" })] },
      { toolCalls: [wait()] },
    ]);
    scriptTurn(mcp.service, "do the part", [
      step("add_requirements", { requirements: [{ text: "The part works" }] }),
    ]);
    const session = await mcp.service.create("hand over", { subAgents: true });
    await mcp.service.completed(session.statusUrl, 60_000);
    const offered = readOfferedBy(mcp.service, "do the part");
    assert.deepEqual(
      PLANNING.filter((name) => offered.includes(name)),
      PLANNING.slice(1),
    );
    const { data } = await mcp.service.read<{ data: { id: string; text: string }[] }>(
      `/api/sessions/${session.sessionId}/requirements`,
    );
    assert.deepEqual(
      data.map(({ id, text }) => [id, text]),
      [["r1", "The part works"]],
    );
  });

  it("is empty for the holder of an MCP token", async () => {
    const { sessionId } = await mcp.service.create("Say something.");
    const client = await mcp.connect(await mcp.requestToken(sessionId));
    const names = await listNames(client);
    assert.ok(!names.some((name) => PLANNING.includes(name)));
    await assert.rejects(
      callTool(client, "update_plan", { items: [] }),
      /there is no tool named update_plan/,
    );
  });
});

describe("a change of the mode", () => {
  it("does not change a byte of the tools in the prompt", async () => {
    const toolsOf = () => {
      const request = mcp.service.model.requests.findLast(({ kind }) => kind === "turn");
      return JSON.stringify(request?.body.tools);
    };
    for (const kind of [{}, { outputSchema }]) {
      const { session } = await playTurn(mcp.service, [plan([todo("Look")])], kind);
      const off = toolsOf();
      assert.match(off, /update_plan/);
      await setMode(mcp.service, session.sessionId, "plan_first");
      await playFollowUp(mcp.service, session.sessionId, []);
      assert.equal(toolsOf(), off);
      const first = mcp.service.model.requests.findLast(({ kind: of }) => of === "turn")?.text ?? "";
      assert.match(
        first,
        /Plan first: a person wants to agree[\s\S]*The plan, revision 1:\n- p1 \[todo\] Look/,
      );
      await setMode(mcp.service, session.sessionId, "off");
      await playFollowUp(mcp.service, session.sessionId, []);
      assert.equal(toolsOf(), off);
    }
  });
});
