import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RUN_ORIGINS } from "#db/schema/unions.ts";
import type { ToolNeed, ToolProfile } from "#lib/catalogue/tools.ts";
import { ANALYSIS_PROFILE, BROWSER_TOOLS, SANDBOX_TOOLS } from "./analysis-profile-testing.ts";
import { listIneffective, type ToolInfo } from "./tool-policy.ts";
import { composeToolset, selectRunTools } from "./toolset.ts";

type RunPolicy = Parameters<typeof selectRunTools>[0];
const selectTools = (run: Omit<RunPolicy, "deploymentExclude">): string[] =>
  selectRunTools({ ...run, deploymentExclude: [] });

const info = (name: string, profile: ToolProfile, needs?: ToolNeed): ToolInfo => ({ name, profile, needs });
const needsSandbox: readonly string[] = SANDBOX_TOOLS;
const needsBrowser: readonly string[] = BROWSER_TOOLS;
const needOf = (name: string): ToolNeed | undefined => {
  if (needsSandbox.includes(name)) return "sandbox";
  return needsBrowser.includes(name) ? "browser" : undefined;
};
const excludedByDefault = [
  "apply_variant",
  "check_variant",
  "refresh_previews",
  "publish_variant",
  "deploy_landing_page",
  "publish_qa_report",
  "import_legacy_session",
  "wait_for_test_results",
  "run_tests",
];
/**
 * The tools of an example deployment. They include tools of every profile, and tools that need a browser, a sandbox, or
 * neither.
 */
const available: ToolInfo[] = [
  ...ANALYSIS_PROFILE.map((name) => info(name, "analysis", needOf(name))),
  ...excludedByDefault.map((name) => info(name, "editing", "sandbox")),
  info("screenshot", "editing", "browser"),
  info("set_previews", "editing", "browser"),
  info("update_plan", "always"),
  info("set_requirement", "always"),
  info("spawn_agents", "always"),
  info("read_skill", "always", "sandbox"),
];
type Options = Partial<Parameters<typeof composeToolset>[0]["policy"]> & {
  structured?: boolean;
  capabilities?: { browser: boolean; sandbox: boolean };
  available?: ToolInfo[];
};
const compose = (options: Options = {}) =>
  composeToolset({
    available: options.available ?? available,
    capabilities: options.capabilities ?? { browser: true, sandbox: true },
    subAgents: true,
    hasOutputSchema: options.structured ?? false,
    policy: { include: [], exclude: [], externalTurnExclude: [], ...options },
  });
const allNames = available.map((tool) => tool.name);
const outside = ["update_plan", "set_requirement", "spawn_agents", "read_skill"];
const sorted = (names: readonly string[]) => [...names].sort();
const has = (names: string[], name: string) => names.includes(name);

describe("Capabilities", () => {
  it("a session without switches and policy has every tool of the deployment", () => {
    assert.deepEqual(compose(), allNames);
  });

  it("browser: false removes the browser and preview tools", () => {
    const names = compose({ capabilities: { browser: false, sandbox: true } });
    for (const name of [...needsBrowser, "screenshot", "set_previews"]) assert.ok(!has(names, name), name);
    assert.ok(has(names, "run_shell"));
  });

  it("sandbox: false removes the workspace tools, skills tools included", () => {
    const names = compose({ capabilities: { browser: false, sandbox: false } });
    for (const name of [...needsSandbox, "apply_variant", "run_tests", "read_skill"]) {
      assert.ok(!has(names, name), name);
    }
    assert.ok(has(names, "update_plan"));
    assert.ok(has(names, "fetch_url"));
  });

  it("the browser runs inside the sandbox, so sandbox: false also turns the browser off", () => {
    const names = compose({ capabilities: { browser: true, sandbox: false } });
    for (const name of needsBrowser) assert.ok(!has(names, name), name);
  });

  it("a tool removed by capabilities cannot be brought back with tools.include", () => {
    const names = compose({
      structured: true,
      capabilities: { browser: false, sandbox: true },
      include: ["screenshot", "browser_execute", "apply_variant"],
    });
    assert.ok(!has(names, "screenshot") && !has(names, "browser_execute"));
    assert.ok(has(names, "apply_variant"));
  });
});

describe("Tools object", () => {
  it("include adds tools that the analysis profile leaves out", () => {
    assert.ok(has(compose({ structured: true, include: ["run_tests"] }), "run_tests"));
  });

  it("include has effect only with outputSchema", () => {
    assert.deepEqual(compose({ include: ["run_tests", "apply_variant"] }), compose());
  });

  it("exclude removes tools for the whole session", () => {
    const toolset = compose({ exclude: ["run_shell"] });
    for (const origin of RUN_ORIGINS) {
      assert.ok(!has(selectTools({ toolset, available, origin, externalTurnExclude: [] }), "run_shell"));
    }
  });

  it("exclude wins over every other rule", () => {
    const names = compose({ structured: true, include: ["run_tests"], exclude: ["run_tests", "read_file"] });
    assert.ok(!has(names, "run_tests") && !has(names, "read_file"));
  });

  it("without outputSchema, exclude and externalTurnExclude remove tools from the normal editing session", () => {
    const toolset = compose({ exclude: ["apply_variant"] });
    assert.deepEqual(sorted(toolset), sorted(allNames.filter((name) => name !== "apply_variant")));
    const run = selectTools({
      toolset,
      available,
      origin: "external",
      externalTurnExclude: ["publish_variant"],
    });
    assert.deepEqual(sorted(run), sorted(toolset.filter((name) => name !== "publish_variant")));
  });

  it("a trailing-* prefix excludes every tool whose name begins with it", () => {
    const names = compose({ exclude: ["browser_*"] });
    assert.ok(!has(names, "browser_execute") && !has(names, "browser_search"));
    assert.ok(has(names, "dom_query"));
  });

  it("a name without * is an exact name, and a * elsewhere is no pattern", () => {
    assert.deepEqual(compose({ exclude: ["browser", "*_execute", "run_*_x"] }), compose());
  });
});

describe("Structured sessions: tool profile", () => {
  it("included by default: the left column, and tools outside the policy", () => {
    assert.deepEqual(sorted(compose({ structured: true })), sorted([...ANALYSIS_PROFILE, ...outside]));
  });

  it("a tool for structured results is only there if it is included, and never without a schema", () => {
    const more = { available: [...available, info("cite", "named")] };
    assert.ok(!has(compose({ ...more, structured: true }), "cite"));
    assert.ok(has(compose({ ...more, structured: true, include: ["cite"] }), "cite"));
    assert.ok(!has(compose({ ...more, include: ["cite"] }), "cite"));
  });

  for (const name of [...excludedByDefault, "screenshot", "set_previews"]) {
    it(`${name} is excluded unless included`, () => {
      assert.ok(!has(compose({ structured: true }), name));
      assert.ok(has(compose({ structured: true, include: [name] }), name));
    });
  }
});

describe("Structured sessions: precedence, in order", () => {
  it("1. the deployment decides which tools exist; naming an unavailable tool in include is a no-op", () => {
    const few = available.filter((tool) => tool.name !== "run_tests");
    const names = compose({ available: few, structured: true, include: ["run_tests", "no_such_tool"] });
    assert.deepEqual(names, compose({ available: few, structured: true }));
  });

  it("2. capabilities removes browser or sandbox tools; include cannot restore them", () => {
    const names = compose({
      structured: true,
      include: [...needsBrowser, ...needsSandbox, "run_tests"],
      capabilities: { browser: false, sandbox: false },
    });
    assert.ok(![...needsBrowser, ...needsSandbox, "run_tests"].some((name) => has(names, name)));
  });

  it("3. outputSchema narrows the toolset to the analysis profile", () => {
    const names = compose({ structured: true }).filter((name) => !outside.includes(name));
    assert.deepEqual(sorted(names), sorted(ANALYSIS_PROFILE));
  });

  it("4. tools.include adds back named tools, and only these", () => {
    const names = compose({ structured: true, include: ["apply_variant"] });
    assert.deepEqual(sorted(names), sorted([...compose({ structured: true }), "apply_variant"]));
  });

  it("4. a prefix in include names nothing: names there are exact", () => {
    assert.deepEqual(compose({ structured: true, include: ["run_*"] }), compose({ structured: true }));
  });

  it("5. tools.exclude removes named tools and wins over everything", () => {
    const names = compose({
      structured: true,
      include: ["apply_variant"],
      exclude: ["apply_*", "fetch_url"],
    });
    assert.ok(!has(names, "apply_variant") && !has(names, "fetch_url"));
  });

  it("6. tools.externalTurnExclude removes named tools on turns that were not typed by a person", () => {
    const toolset = compose({ structured: true });
    const names = selectTools({
      toolset,
      available,
      origin: "external",
      externalTurnExclude: ["elicit_user_input"],
    });
    assert.deepEqual(
      names,
      toolset.filter((name) => name !== "elicit_user_input"),
    );
  });
});

describe("Structured sessions: other rules", () => {
  it("planning, requirements, delegation and skills tools are outside this policy", () => {
    const toolset = compose({ structured: true, exclude: outside });
    for (const name of outside) assert.ok(has(toolset, name), name);
    const run = selectTools({ toolset, available, origin: "external", externalTurnExclude: ["*"] });
    assert.deepEqual(sorted(run), sorted(outside));
  });

  const mcp = ["mcp_crm__find", "mcp_crm__save", "mcp_builtin__time"];
  const withMcp = (
    exclude: string[],
    externalTurnExclude: string[] = [],
    origin: "external" | "person" = "person",
  ) =>
    selectTools({
      toolset: compose({ structured: true }),
      available,
      origin,
      externalTurnExclude,
      mcpTools: { names: mcp, exclude },
    }).filter((name) => name.startsWith("mcp_"));

  it("tools of MCP servers, the built-in one and the caller's own, are not narrowed by the analysis profile", () => {
    assert.deepEqual(withMcp([]), mcp);
  });

  it("tools.exclude removes MCP tools by exact name or by a trailing-* prefix", () => {
    assert.deepEqual(withMcp(["mcp_crm__save"]), ["mcp_crm__find", "mcp_builtin__time"]);
    assert.deepEqual(withMcp(["mcp_crm__*"]), ["mcp_builtin__time"]);
  });

  it("tools.externalTurnExclude applies to MCP tools the same way", () => {
    assert.deepEqual(withMcp([], ["mcp_crm__*"], "external"), ["mcp_builtin__time"]);
    assert.deepEqual(withMcp([], ["mcp_crm__*"], "person"), mcp);
  });

  it("the toolset is fixed once at session composition: a tool that comes later is not added to it", () => {
    const toolset = compose({ available: available.slice(0, 5) });
    assert.deepEqual(
      selectTools({ toolset, available, origin: "person", externalTurnExclude: [] }),
      allNames.slice(0, 5),
    );
  });

  it("a tool of the toolset that this deployment no longer has is left out", () => {
    const fewer = available.slice(1);
    assert.deepEqual(
      selectTools({ toolset: compose(), available: fewer, origin: "person", externalTurnExclude: [] }),
      allNames.slice(1),
    );
  });
});

describe("externalTurnExclude semantics", () => {
  const run = (origin: (typeof RUN_ORIGINS)[number]) =>
    selectTools({
      toolset: compose(),
      available,
      origin,
      externalTurnExclude: ["elicit_user_input", "publish_*"],
    });
  const titles = {
    external: "removed on the API-started first turn and on messages posted through the API",
    continuation: "removed on the agent's own continuations",
    retry: "removed on the agent's own retries",
    subagent: "removed on every sub-agent turn",
  } as const;
  for (const [origin, title] of Object.entries(titles) as [keyof typeof titles, string][]) {
    it(`the listed tools are ${title}`, () => {
      const names = run(origin);
      for (const name of ["elicit_user_input", "publish_variant", "publish_qa_report"]) {
        assert.ok(!has(names, name), name);
      }
    });
  }

  it("they are present again when a person sends a message, even after a headless first turn", () => {
    assert.ok(!has(run("external"), "elicit_user_input"));
    assert.deepEqual(run("person"), allNames);
  });
});

describe("the deployment's list of tools to exclude from external turns", () => {
  const mcpTools = { names: ["mcp_crm__find", "mcp_crm__pay", "mcp_builtin__read_markdown"], exclude: [] };
  const lists = [
    [],
    ["publish_variant", "deploy_landing_page"],
    ["publish_*", "mcp_crm__*"],
    ["*"],
    ["update_plan", "spawn_agents", "no_such_tool"],
  ];
  for (const list of lists)
    it(`has the effect of tools.externalTurnExclude: ${list.join(", ") || "none"}`, () => {
      for (const origin of RUN_ORIGINS)
        for (const structured of [false, true]) {
          const toolset = compose({ structured, include: ["publish_variant"] });
          const run = { toolset, available, origin, mcpTools };
          const expected = selectRunTools({ ...run, externalTurnExclude: list, deploymentExclude: [] });
          assert.deepEqual(
            selectRunTools({ ...run, externalTurnExclude: [], deploymentExclude: list }),
            expected,
          );
          assert.deepEqual(
            selectRunTools({
              ...run,
              externalTurnExclude: list.slice(1),
              deploymentExclude: list.slice(0, 1),
            }),
            expected,
            "both lists count",
          );
        }
    });

  it("is reported as far as it removes nothing", () => {
    const list = ["publish_variant", "publsh_variant", "update_plan", "*", "mcp_crm__pay", "x*"];
    assert.deepEqual(listIneffective(list, available), ["publsh_variant", "update_plan", "x*"]);
  });
});
