import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { makeCertificate } from "#e2e/fixtures/make-certificate.ts";
import { startToolServer, type ToolServer } from "#e2e/fixtures/mcp/start-tool-server.ts";
import { trustCertificate } from "#e2e/fixtures/trust-certificate.ts";
import { BROWSER_TOOLS, ROOT_TOOLS, TOOL_CATALOGUE } from "#lib/catalogue/tools.ts";
import { SKILL_TOOLS } from "#lib/skills/skill.ts";
import { ANALYSIS_PROFILE } from "#lib/tools/analysis-profile-testing.ts";
import { listMissing, openTestService, type TestService, UNUSED_BROWSER } from "../testing.ts";
import { scriptByTask, spawn, submit, wait } from "./agents-testing.ts";
import { CHILD_TOOLS, DELEGATION_TOOLS, listTree, namesIn, requestsOfAgent } from "./tree-testing.ts";

const certificate = makeCertificate();
let service: TestService;
let server: ToolServer;

before(async () => {
  trustCertificate(certificate);
  server = await startToolServer({ certificate, tools: [{ name: "find" }, { name: "drop_all" }] });
  service = await openTestService(UNUSED_BROWSER);
});
after(async () => {
  await service.close();
  await server.close();
});

/**
 * Spawns a sub-agent without a browser and a sub-agent with its own browser.
 *
 * @returns the tools of the parent and of each sub-agent.
 */
async function readToolsets(marker: string, profile: Record<string, unknown>) {
  scriptByTask(service, {
    [marker]: [
      {
        toolCalls: [
          spawn(
            { name: `${marker}-none`, objective: "submit at once" },
            { name: `${marker}-own`, objective: "submit at once", browser: "own" },
          ),
        ],
      },
      { toolCalls: [wait()] },
    ],
    "submit at once": [{ toolCalls: [submit({ any: "value" })] }],
  });
  const session = await service.create(marker, { subAgents: true, ...profile });
  await service.completed(session.statusUrl);
  const parent = service.model.requests.find(
    ({ kind, userText }) => kind === "turn" && userText.includes(marker),
  );
  const offer = (name: string) => {
    const requests = requestsOfAgent(service, `${marker}-${name}`);
    assert.deepEqual(
      requests.map(({ kind }) => kind),
      ["turn"],
      "a child has neither a probe nor a structured call",
    );
    return requests.flatMap(namesIn);
  };
  assert.ok(parent);
  return { session, parent: namesIn(parent), none: offer("none"), own: offer("own") };
}

const outputSchema = {
  type: "object",
  properties: { summary: { type: "string" } },
  required: ["summary"],
};
/** The tools for requirements. Sub-agents have them too, because they share the requirements of their root session. */
const REQUIREMENT_TOOLS = ["add_requirements", "update_requirement", "list_requirements"];
const always = [...DELEGATION_TOOLS, ...SKILL_TOOLS, ...CHILD_TOOLS, ...REQUIREMENT_TOOLS];
const isBrowserTool = (name: string) => BROWSER_TOOLS.includes(name);

describe("the tools of a child", () => {
  it("are its parent's, plus the two tools of a sub-agent, minus the browser tools if it has no browser", async () => {
    const { parent, none, own } = await readToolsets("plain-toolset", {});
    assert.ok(parent.includes("screenshot") && parent.includes("run_shell"));
    assert.ok(parent.includes("publish_variant"));
    // A session without an output schema has every tool that need not be named, so an entry without a tool would be
    // found here.
    const ours = parent.filter((name) => !name.startsWith("mcp_"));
    assert.deepEqual(
      [...ours, ...CHILD_TOOLS, ...listMissing(service)].toSorted(),
      Object.entries(TOOL_CATALOGUE)
        .flatMap(([name, { profile }]) => (profile === "named" ? [] : [name]))
        .toSorted(),
    );
    const inherited = parent.filter((name) => !ROOT_TOOLS.includes(name));
    assert.deepEqual(own.toSorted(), [...inherited, ...CHILD_TOOLS].toSorted());
    assert.deepEqual(
      none.toSorted(),
      [...inherited.filter((name) => !isBrowserTool(name)), ...CHILD_TOOLS].toSorted(),
    );
  });

  it("include no editing tool in an analysis session, and the child has no output schema", async () => {
    const { session, none, own } = await readToolsets("analysis-toolset", { outputSchema });
    const analysis: readonly string[] = [...ANALYSIS_PROFILE, ...always];
    for (const names of [none, own])
      assert.deepEqual(
        // The analysis profile does not restrict the tools of MCP servers.
        names.filter((name) => !name.startsWith("mcp_") && !analysis.includes(name)),
        [],
      );
    assert.ok(own.includes("browser_execute") && !none.includes("browser_execute"));
    for (const { agentId, result, submitted } of await listTree(service, session.sessionId)) {
      // The parent's output schema would refuse this value, but it does not apply to children.
      assert.deepEqual([result, submitted], [{ any: "value" }, true]);
      const { session: child } = await service.read<{ session: { outputSchema: unknown } }>(
        `/api/sessions/${agentId}`,
      );
      assert.equal(child.outputSchema, null);
      const status = await service.read<{ deliverable: unknown }>(`/api/sessions/${agentId}/agent/status`);
      assert.equal(status.deliverable, null);
    }
  });

  it("follow tools.include and tools.exclude, also for MCP tools", async () => {
    const { parent, none, own } = await readToolsets("policy-toolset", {
      outputSchema,
      mcpServers: { crm: { url: server.url } },
      tools: { include: ["screenshot"], exclude: ["run_shell", "dom_query", "mcp_crm__drop*"] },
    });
    const inherited = parent.filter((name) => !ROOT_TOOLS.includes(name));
    assert.deepEqual(own.toSorted(), [...inherited, ...CHILD_TOOLS].toSorted());
    assert.ok(own.includes("screenshot") && !none.includes("screenshot"));
    for (const names of [parent, none, own]) {
      assert.ok(names.includes("mcp_crm__find") && names.includes("read_file"));
      for (const name of ["run_shell", "dom_query", "mcp_crm__drop_all"])
        assert.ok(!names.includes(name), name);
    }
  });

  it("always include those for delegation, skills and requirements, which no list removes", async () => {
    const { parent, none } = await readToolsets("outside-policy", {
      tools: { exclude: always, externalTurnExclude: ["*"] },
    });
    const among = (names: string[]) => names.filter((name) => always.includes(name)).toSorted();
    assert.deepEqual(among(parent), [...DELEGATION_TOOLS, ...SKILL_TOOLS, ...REQUIREMENT_TOOLS].toSorted());
    assert.deepEqual(none.toSorted(), always.toSorted());
  });

  it("include no browser or workspace tools if the session's capabilities exclude them", async () => {
    const marker = "narrow-toolset";
    scriptByTask(service, {
      [marker]: [
        { toolCalls: [spawn({ name: marker, objective: "submit at once" })] },
        { toolCalls: [wait()] },
      ],
      "submit at once": [{ toolCalls: [submit(1)] }],
    });
    const session = await service.create(marker, {
      subAgents: true,
      capabilities: { sandbox: false },
      tools: { include: ["screenshot", "run_shell"] },
      outputSchema,
    });
    await service.completed(session.statusUrl);
    const names = requestsOfAgent(service, marker).flatMap(namesIn);
    assert.ok(names.includes("fetch_url"));
    assert.deepEqual(
      names.filter((name) => isBrowserTool(name) || ["run_shell", "read_file", "write_file"].includes(name)),
      [],
    );
  });
});
