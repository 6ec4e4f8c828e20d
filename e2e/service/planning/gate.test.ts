import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { makeCertificate } from "#e2e/fixtures/make-certificate.ts";
import { startToolServer } from "#e2e/fixtures/mcp/start-tool-server.ts";
import { trustCertificate } from "#e2e/fixtures/trust-certificate.ts";
import { readResult, spawn, wait } from "../agents/agents-testing.ts";
import { callTool, type McpService, openMcpService, readText } from "../mcp-server/builtin-mcp-testing.ts";
import { listMissing, UNUSED_BROWSER, waitUntil } from "../testing.ts";
import { only, readEvents } from "../turn/turn-testing.ts";
import { playFollowUp, playTurn, scriptTurn, step } from "../variants/variants-testing.ts";
import { readPlan, setMode } from "./planning-testing.ts";

const certificate = makeCertificate();
let mcp: McpService;
before(async () => {
  trustCertificate(certificate);
  mcp = await openMcpService(UNUSED_BROWSER);
});
after(() => mcp.close());

const add = [{ op: "setText", selector: "#pay", text: "Pay now" }];
/** The tools that change something, each with the input of a call. */
const CHANGING: Record<string, Record<string, unknown>> = {
  apply_variant: { baseRevision: 0, add },
  publish_variant: {},
  write_file: { path: "a.txt", content: "a" },
  run_shell: { command: "touch b.txt" },
  browser_execute: { script: "return 1" },
  publish_qa_report: {
    title: "Checkout audit",
    summary: "No findings.",
    findings: [],
  },
  deploy_landing_page: { folder: "site" },
  import_legacy_session: { document: {} },
  run_skill_script: { name: "form-audit", script: "scripts/form-check.mjs" },
  run_tests: {},
  set_previews: { previews: [] },
  refresh_previews: {},
};
/** Every other tool of the service, by the reason why it changes nothing. A new tool has to be added to a list. */
const UNCHANGING: Record<string, string[]> = {
  "notes what a value comes from": ["cite"],
  "reads the page, and at most stores what it saw as evidence": [
    "dom_query",
    "browser_search",
    "inspect_frames",
    "save_cleaned_html",
    "screenshot",
    "capture_preview",
  ],
  "reads files, pages of the web, or what the service has stored": [
    "read_file",
    "list_files",
    "view_image",
    "fetch_url",
    "list_transcript",
    "read_message",
    "search_transcript",
    "read_tool_result",
    "list_evidence",
    "read_skill",
  ],
  "reads or resolves annotations": ["list_annotations", "resolve_annotation"],
  "stores what it measured": ["check_variant"],
  "waits, or asks a person": ["wait_for_test_results", "elicit_user_input", "request_handover"],
  "writes the plan that a person agrees to, or its requirements": [
    "update_plan",
    "add_requirements",
    "update_requirement",
    "list_requirements",
  ],
  "manages sub-agents, whose calls are refused as well": [
    "spawn_agents",
    "wait_for_agents",
    "message_agent",
    "list_agents",
    "cancel_agent",
    "submit_result",
    "report_progress",
  ],
};
const REFUSED =
  /^(Error: )?(\w+) was not run: a person wants to agree to a plan .* update_plan, and finish the turn/;

describe("plan first", () => {
  it("applies to every tool that changes or publishes something, and to no other", () => {
    const { tools } = mcp.container.services;
    const namesOf = (isChanging: boolean) =>
      tools.flatMap(({ name, changes }) => (changes === isChanging ? [name] : [])).toSorted();
    const missing = listMissing(mcp);
    const offered = (names: string[]) => names.filter((name) => !missing.includes(name)).toSorted();
    assert.deepEqual(namesOf(true), offered(Object.keys(CHANGING)));
    assert.deepEqual(namesOf(false), offered(Object.values(UNCHANGING).flat()));
    assert.ok(tools.every(({ changes, readOnly }) => !(changes && readOnly)));
  });

  for (const [name, input] of Object.entries(CHANGING)) {
    it(`refuses ${name} until the mode is another one`, async () => {
      const { session } = await playTurn(mcp.service, []);
      await setMode(mcp.service, session.sessionId, "plan_first");
      const [refused = ""] = await playFollowUp(mcp.service, session.sessionId, [step(name, input)]);
      if (listMissing(mcp).includes(name)) return assert.match(refused, /There is no tool/);
      assert.match(refused, REFUSED);
      assert.ok(refused.includes(`${name} was not run`), refused);
      await setMode(mcp.service, session.sessionId, "off");
      const [run = ""] = await playFollowUp(mcp.service, session.sessionId, [step(name, input)]);
      assert.doesNotMatch(run, REFUSED);
    });
  }

  it("refuses calls without any effect, and allows tools that only read", async () => {
    const { session } = await playTurn(mcp.service, [
      step("write_file", { path: "before.txt", content: "a" }),
    ]);
    await setMode(mcp.service, session.sessionId, "plan_first");
    const [, , files = "", read = ""] = await playFollowUp(mcp.service, session.sessionId, [
      step("write_file", { path: "after.txt", content: "b" }),
      step("run_shell", { command: "touch shell.txt" }),
      step("list_files"),
      step("read_file", { path: "before.txt" }),
    ]);
    assert.match(files, /before\.txt/);
    assert.doesNotMatch(files, /after\.txt|shell\.txt/);
    assert.match(read, /a/);
  });

  it("marks refused calls as not run in the events and in exports", async () => {
    const { session } = await playTurn(mcp.service, []);
    const { sessionId } = session;
    await setMode(mcp.service, sessionId, "plan_first");
    await playFollowUp(mcp.service, sessionId, [
      step("write_file", { path: "a.txt", content: "a" }),
      step("list_files"),
      step("read_file", { path: "none.txt" }),
    ]);
    const marks = only(await readEvents(mcp.service, sessionId), "tool.result").map(
      ({ toolName, state, refusal }) => ({ toolName, state, refusal }),
    );
    assert.deepEqual(marks, [
      { toolName: "write_file", state: "failed", refusal: "plan_first" },
      { toolName: "list_files", state: "succeeded", refusal: undefined },
      { toolName: "read_file", state: "failed", refusal: undefined },
    ]);
    const path = `/api/sessions/${sessionId}/export`;
    const exported = await mcp.service.read<{ messages: { results: Record<string, unknown>[] }[] }>(path);
    assert.deepEqual(
      exported.messages.flatMap(({ results }) => results.map(({ refusal }) => refusal)),
      ["plan_first", undefined, undefined],
    );
    const html = await (await mcp.service.call("GET", `${path}?format=html`)).text();
    assert.match(html, /<code>write_file<\/code> a\.txt <span class="refused">not run, plan first<\/span>/);
    assert.match(html, /<code>read_file<\/code> none\.txt <span class="failed">failed<\/span>/);
    // An export with refused calls can be imported.
    const other = await mcp.service.create("Say something.");
    const imported = await mcp.service.call("POST", `/api/sessions/${other.sessionId}/import`, exported);
    assert.equal(imported.status, 201, await imported.clone().text());
  });

  it("takes effect at the next call when the mode changes during a turn", async () => {
    const { session } = await playTurn(mcp.service, []);
    const { sessionId } = session;
    const { promise, resolve } = Promise.withResolvers<void>();
    const marker = `task ${crypto.randomUUID()}`;
    scriptTurn(mcp.service, marker, [
      step("write_file", { path: "1.txt", content: "1" }),
      { ...step("write_file", { path: "2.txt", content: "2" }), hold: promise },
      step("list_files"),
    ]);
    const posted = await mcp.service.call("POST", `/api/sessions/${sessionId}/agent/messages`, {
      text: marker,
    });
    const { statusUrl } = (await posted.json()) as { statusUrl: string };
    await waitUntil(
      () =>
        mcp.service.model.requests.some((each) => each.userText.includes(marker) && each.answersSoFar === 1),
      "the second model call is open",
    );
    await setMode(mcp.service, sessionId, "plan_first");
    resolve();
    await mcp.service.completed(statusUrl, 60_000);
    const last = mcp.service.model.requests.findLast(({ userText }) => userText.includes(marker));
    assert.match(last?.toolResults[1] ?? "", REFUSED);
    assert.doesNotMatch(last?.toolResults[2] ?? "", /2\.txt/);
  });

  it("is checked again after a call has waited for its resource", async () => {
    const { session } = await playTurn(mcp.service, []);
    const { sessionId } = session;
    const tool = mcp.container.services.tools.find(({ name }) => name === "write_file");
    assert.ok(tool);
    let released = 0;
    // Changes the mode while the call waits for its resource, to simulate a change by a person.
    tool.acquire = async () => {
      await setMode(mcp.service, sessionId, "plan_first");
      return () => {
        released += 1;
      };
    };
    try {
      const [refused = "", files = ""] = await playFollowUp(mcp.service, sessionId, [
        step("write_file", { path: "late.txt", content: "a" }),
        step("list_files"),
      ]);
      assert.match(refused, REFUSED);
      assert.doesNotMatch(files, /late\.txt/);
      assert.equal(released, 1);
    } finally {
      delete tool.acquire;
    }
  });

  it("applies to sub-agents by the mode of their root", async () => {
    scriptTurn(mcp.service, "hand over", [
      { toolCalls: [spawn({ objective: "write the part" })] },
      { toolCalls: [wait()] },
    ]);
    scriptTurn(mcp.service, "write the part", [step("write_file", { path: "part.txt", content: "a" })]);
    const session = await mcp.service.create("say hello", { subAgents: true });
    await mcp.service.completed(session.statusUrl);
    await setMode(mcp.service, session.sessionId, "plan_first");
    const posted = await mcp.service.call("POST", `/api/sessions/${session.sessionId}/agent/messages`, {
      text: "hand over",
    });
    await mcp.service.completed(((await posted.json()) as { statusUrl: string }).statusUrl, 60_000);
    assert.match(readResult(mcp.service, "write the part", 0), REFUSED);
    const text = mcp.service.model.requests.findLast((each) =>
      each.userText.includes("write the part"),
    )?.text;
    assert.match(text ?? "", /look, and report what you would change/);
    // Sub-agents share the plan of their root session.
    const { agents } = await mcp.service.read<{ agents: { agentId: string }[] }>(
      `/api/sessions/${session.sessionId}/agents`,
    );
    assert.equal((await readPlan(mcp.service, agents[0]?.agentId ?? "")).mode, "plan_first");
    const refused = await mcp.service.call("POST", `/api/sessions/${agents[0]?.agentId}/plan/mode`, {
      mode: "off",
    });
    assert.equal(refused.status, 409);
  });

  it("applies to the holder of an MCP token", async () => {
    const { sessionId } = await mcp.service.create("Say something.");
    const client = await mcp.connect(await mcp.requestToken(sessionId));
    await setMode(mcp.service, sessionId, "plan_first");
    for (const name of ["write_file", "run_shell"]) {
      const refused = await callTool(client, name, CHANGING[name]);
      assert.equal(refused.isError, true);
      assert.match(readText(refused), REFUSED);
    }
    assert.doesNotMatch(readText(await callTool(client, "list_files")), /a\.txt|b\.txt/);
    const marks = only(await readEvents(mcp.service, sessionId), "tool.result").map(({ refusal }) => refusal);
    assert.deepEqual(marks, ["plan_first", "plan_first", undefined]);
    await setMode(mcp.service, sessionId, "off");
    assert.notEqual((await callTool(client, "write_file", CHANGING.write_file)).isError, true);
  });

  it("applies to tools of remote servers unless they declare that they only read", async () => {
    const calls: string[] = [];
    const call = (name: string) => async () => {
      calls.push(name);
      return { content: [{ type: "text" as const, text: `${name} done` }] };
    };
    const server = await startToolServer({
      certificate,
      tools: [
        { name: "find", annotations: { readOnlyHint: true }, call: call("find") },
        { name: "order", call: call("order") },
        {
          name: "claims_not",
          annotations: { readOnlyHint: false, idempotentHint: true },
          call: call("claims_not"),
        },
      ],
    });
    const { session } = await playTurn(mcp.service, [], { mcpServers: { crm: { url: server.url } } });
    await setMode(mcp.service, session.sessionId, "plan_first");
    const results = await playFollowUp(mcp.service, session.sessionId, [
      step("mcp_crm__find"),
      step("mcp_crm__order"),
      step("mcp_crm__claims_not"),
      step("mcp_builtin__compare_pictures"),
    ]);
    await server.close();
    assert.match(results[0] ?? "", /find done/);
    assert.match(results[1] ?? "", REFUSED);
    assert.match(results[2] ?? "", REFUSED);
    // `compare_pictures` is allowed, because it only stores a picture as evidence.
    assert.match(results[3] ?? "", /compare_pictures: /);
    assert.doesNotMatch(results[3] ?? "", REFUSED);
    assert.deepEqual(calls, ["find"]);
  });
});
