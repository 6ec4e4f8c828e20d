import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { RecordedRequest } from "#e2e/fixtures/scripted-model/types.ts";
import { CALL_TOOL, LOAD_TOOLS, ON_DEMAND_TOOLS } from "#lib/catalogue/tools.ts";
import { setMode } from "../planning/planning-testing.ts";
import { openTestService, type TestService, UNUSED_BROWSER } from "../testing.ts";
import { playFollowUp, playTurn, step } from "../variants/variants-testing.ts";
import { only, readEvents } from "./turn-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ ...UNUSED_BROWSER, SANDBOX: "unconfined" });
});
after(() => service.close());

const outputSchema = {
  type: "object",
  properties: { title: { type: "string" } },
  required: ["title"],
  additionalProperties: false,
};
const load = (...names: string[]) => step(LOAD_TOOLS, { names });
const call = (name: string, input: unknown) => step(CALL_TOOL, { name, input });

type SentTool = { name: string; description?: string; parameters?: unknown };
const lastTurn = (): RecordedRequest =>
  service.model.requests.findLast(({ kind }) => kind === "turn") ?? assert.fail("no model call");
const toolsOf = ({ body }: RecordedRequest) => (body.tools ?? []) as SentTool[];
const sentNames = (request: RecordedRequest) => toolsOf(request).map(({ name }) => name);

/** The system message of a request. */
const instructionsOf = ({ body }: RecordedRequest) => (body.input as unknown[])[0];

/** The tools that the specification lists for the analysis profile are sent whole, among others. */
const ALWAYS_SENT =
  "read_file write_file list_files run_shell fetch_url view_image elicit_user_input read_tool_result list_evidence read_message list_transcript search_transcript browser_execute browser_search dom_query save_cleaned_html inspect_frames capture_preview".split(
    " ",
  );

describe("the fixed part of a model call", () => {
  it("has at most 14,000 characters in an editing session and 10,000 in a structured one, without the caller's", async () => {
    await playTurn(service, []);
    const editing = lastTurn();
    await playTurn(service, [], { outputSchema });
    const structured = lastTurn();
    const schemaChars = JSON.stringify(outputSchema, null, 1).length;
    for (const [request, most] of [
      [editing, 14_000],
      [structured, 10_000 + schemaChars],
    ] as const) {
      const own = toolsOf(request).filter(({ name }) => !name.startsWith("mcp_"));
      // As sent, so that the escapes of the JSON count too.
      const characters = JSON.stringify([own, instructionsOf(request)]).length;
      assert.ok(characters <= most, `${characters} characters`);
      for (const name of ALWAYS_SENT) assert.ok(sentNames(request).includes(name), name);
    }
    for (const name of ["apply_variant", "check_variant"]) assert.ok(sentNames(editing).includes(name), name);
    assert.ok(!sentNames(editing).some((name) => ON_DEMAND_TOOLS.includes(name)));
  });

  it("has the whole definition of each tool that tools.include names", async () => {
    const include = ["publish_qa_report", "apply_variant"];
    await playTurn(service, [], { outputSchema, tools: { include } });
    for (const name of include) assert.ok(sentNames(lastTurn()).includes(name), name);
    await playTurn(service, [], { tools: { include } });
    assert.ok(sentNames(lastTurn()).includes("publish_qa_report"));
    assert.ok(!sentNames(lastTurn()).includes("update_plan"));
  });
});

describe("tools on demand", () => {
  it("are named in one line, loaded as a result, and run by call_tool; the list of tools stays the same", async () => {
    const { session, results } = await playTurn(service, [
      load("requirements", "update_plan", "fly"),
      call("add_requirements", { requirements: [{ text: "The button reads Pay" }] }),
      call("update_plan", { items: [{ text: 5 }] }),
      step("list_requirements"),
      call("list_requirements", {}),
      load("fly"),
    ]);
    const [loaded = "", added = "", invalid = "", direct = "", listed = "", unknown = ""] = results;
    for (const name of ["add_requirements", "update_requirement", "list_requirements", "update_plan"])
      assert.match(loaded, new RegExp(`^${name}: .+\\ninput: \\{"type":"object"`, "m"));
    assert.match(loaded, /Not among the tools to load: fly\./);
    assert.match(added, /^- r1 \[open\] The button reads Pay/);
    assert.match(invalid, /items\[0\]\.text: [\s\S]*load_tools returns the inputs of tools\./);
    assert.match(direct, /r1 \[open\]/, "a call by the tool's own name runs as well");
    assert.equal(listed, direct);
    assert.match(unknown, /^Error: Not among the tools to load: fly\. They are: /);
    const requests = service.model.requests.filter(({ userText }) => userText === lastTurn().userText);
    assert.equal(new Set(requests.map((request) => JSON.stringify(toolsOf(request)))).size, 1);
    const events = await readEvents(service, session.sessionId);
    const called = [
      "load_tools",
      "add_requirements",
      "update_plan",
      "list_requirements",
      "list_requirements",
    ];
    assert.deepEqual(
      only(events, "tool.call").map(({ toolName }) => toolName),
      [...called, "load_tools"],
    );
    assert.deepEqual(only(events, "tool.call")[1]?.input, {
      requirements: [{ text: "The button reads Pay" }],
    });
    assert.deepEqual(
      only(events, "tool.result").map(({ toolName, state }) => `${toolName} ${state}`),
      [
        ...called.map((name, index) => `${name} ${index === 2 ? "failed" : "succeeded"}`),
        "load_tools failed",
      ],
    );
    const parts = only(events, "message.completed").flatMap(({ message }) => message.parts);
    assert.deepEqual(
      parts.flatMap((part) => (part.type === "tool-call" ? [part.toolName] : [])),
      [...called, "load_tools"],
    );
    // The provider sees its own call and the answer to it.
    const input = lastTurn().body.input as { type?: string; name?: string; arguments?: string }[];
    const written = input.filter(({ type, name }) => type === "function_call" && name === CALL_TOOL);
    assert.equal(written.length, 3);
    assert.match(written[0]?.arguments ?? "", /^\{"name":"add_requirements","input":\{/);
  });

  it("obey the policy by their own names", async () => {
    const { results, session } = await playTurn(
      service,
      [load("publishing"), call("publish_qa_report", {}), call("run_shell", { command: "true" })],
      { tools: { exclude: ["publish_*", "run_shell"] } },
    );
    assert.match(results[0] ?? "", /^deploy_landing_page: /);
    assert.doesNotMatch(results[0] ?? "", /publish_variant/);
    for (const refused of results.slice(1)) assert.match(refused, /There is no tool/);
    assert.doesNotMatch(JSON.stringify(toolsOf(lastTurn())), /publish_qa_report|run_shell/);
    const [later = ""] = await playFollowUp(service, session.sessionId, [call("publish_variant", {})]);
    assert.match(later, /There is no tool "publish_variant"/);
  });

  it("are refused before a person has agreed to the plan, like other changes", async () => {
    const { session } = await playTurn(service, []);
    await setMode(service, session.sessionId, "plan_first");
    const [refused = "", planned = ""] = await playFollowUp(service, session.sessionId, [
      call("deploy_landing_page", { folder: "site" }),
      call("update_plan", { items: [{ text: "Build the page", status: "todo" }] }),
    ]);
    assert.match(refused, /^Error: deploy_landing_page was not run: a person wants to agree to a plan/);
    assert.match(planned, /^The plan, revision /m);
  });
});
