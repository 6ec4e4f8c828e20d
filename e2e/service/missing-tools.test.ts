import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { RecordedRequest } from "#e2e/fixtures/scripted-model/types.ts";
import { findTestChromium } from "#lib/browser/testing.ts";
import { BROWSER_TOOLS, CHILD_TOOLS, TOOL_CATALOGUE } from "#lib/catalogue/tools.ts";
import { makeSandboxFixture } from "#lib/sandbox/sandbox-fixture.ts";
import { namesIn } from "./agents/tree-testing.ts";
import { openTestService, type TestService } from "./testing.ts";
import { openSite, playTurn, script, step } from "./variants/variants-testing.ts";

const { executablePath: BROWSER_EXECUTABLE_PATH } = findTestChromium();
const sandboxes = await makeSandboxFixture();
await sandboxes.remove();
/** What is missing in addition if bubblewrap does not work on the machine of the tests. */
const SCRIPTS = sandboxes.isConfined ? [] : ["browser_execute"];
const COMMANDS = sandboxes.isConfined ? [] : ["run_shell", "run_skill_script"];
const TESTS = ["run_tests", "wait_for_test_results"];
/** The tools of a session that names none. */
const ALL = Object.entries(TOOL_CATALOGUE).flatMap(([name, { profile }]) =>
  CHILD_TOOLS.includes(name) || profile === "named" ? [] : [name],
);
const FILES = [
  ...["read_file", "write_file", "list_files", "run_shell", "view_image"],
  ...["deploy_landing_page", "read_skill", "run_skill_script"],
];

type Facts = { missingTools: { tools: string[]; reason: string }[]; scripts: string };
type Opened = { service: TestService };
type Options = Parameters<typeof openTestService>[2];

/** Creates a folder with links to the programs that confine processes, except bubblewrap. */
async function linkWithoutBubblewrap(folder: string): Promise<string> {
  for (const place of ["/bin", "/usr/bin", "/usr/local/bin"])
    for (const name of await readdir(place))
      if (["nice", "prlimit", "setpriv", "unshare"].includes(name))
        await symlink(join(place, name), join(folder, name)).catch(() => {});
  return folder;
}

/** Plays a turn. @returns what the model was sent at first, and what the API says about missing tools. */
async function look({ service }: Opened, profile: Record<string, unknown> = {}) {
  const { session } = await playTurn(service, [], { subAgents: true, ...profile });
  const sent = service.model.requests.findLast(({ kind }) => kind === "turn");
  assert.ok(sent);
  const status = await service.read<Facts>(`/api/sessions/${session.sessionId}/agent/status`);
  const ready = await service.read<Facts>("/api/ready");
  assert.deepEqual(ready.missingTools, status.missingTools);
  assert.equal(ready.scripts, status.scripts);
  return { sent, status };
}

/** Everything that the model is told: instructions, messages, and the descriptions and schemas of tools. */
const textOf = ({ body }: RecordedRequest) => JSON.stringify([body.instructions, body.input, body.tools]);

/** Requires that exactly these tools are missing, that the API names them, and that the prompt does not mention them. */
async function expectMissing(opened: Opened, missing: readonly string[]) {
  const { sent, status } = await look(opened);
  const offered = namesIn(sent).filter((name) => !name.startsWith("mcp_"));
  assert.deepEqual(offered.toSorted(), ALL.filter((name) => !missing.includes(name)).toSorted());
  assert.deepEqual(status.missingTools.flatMap(({ tools }) => tools).toSorted(), missing.toSorted());
  const text = textOf(sent);
  assert.deepEqual(
    missing.filter((name) => new RegExp(`\\b${name}\\b`).test(text)),
    [],
    "the prompt speaks of tools that are not there",
  );
  return { text, status, names: namesIn(sent) };
}

/** Opens a service for the tests of a block. Its options are composed when the block begins. */
function useService(variables: Record<string, string>, composeOptions = async (): Promise<Options> => ({})) {
  // Set by `before`.
  const opened = {} as Opened;
  before(async () => {
    opened.service = await openTestService(variables, undefined, await composeOptions());
  });
  after(() => opened.service.close());
  return opened;
}

describe("without bubblewrap", () => {
  let folder: string;
  const opened = useService({ BROWSER_EXECUTABLE_PATH }, async () => {
    folder = await mkdtemp(join(tmpdir(), "no-bubblewrap-"));
    return { launcherPath: await linkWithoutBubblewrap(folder) };
  });
  after(() => rm(folder, { recursive: true }));

  it("the model gets no scripts, commands and test runs, and the prompt does not mention them", async () => {
    const missing = ["browser_execute", "run_shell", "run_skill_script", ...TESTS];
    const { status, text } = await expectMissing(opened, missing);
    assert.match(status.scripts, /^scripts are refused \(bubblewrap/);
    assert.match(status.missingTools[0]?.reason ?? "", /need bubblewrap, which does not work here/);
    assert.doesNotMatch(text, /page\.applyVariant|setInputFiles/);
    assert.match(
      text,
      /shows the session and its page at the start of the turn/,
      "what the service adds is still explained",
    );
  });

  it("a structured session cannot include them", async () => {
    const { sent } = await look(opened, {
      outputSchema: { type: "object", properties: { title: { type: "string" } } },
      tools: { include: ["run_tests", "screenshot"] },
    });
    const names = ["run_tests", "browser_execute", "screenshot"];
    assert.deepEqual(
      names.filter((name) => namesIn(sent).includes(name)),
      ["screenshot"],
    );
  });
});

describe("without a Chromium", () => {
  const opened = useService({ SANDBOX: "unconfined" });

  it("the model gets no browser tools, and the prompt does not mention a browser", async () => {
    const { text, names, status } = await expectMissing(opened, [...BROWSER_TOOLS, ...TESTS]);
    assert.match(status.missingTools[0]?.reason ?? "", /^no Chromium was found/);
    assert.match(text, /pages, without a browser/);
    assert.doesNotMatch(text, /[Tt]he live browser|in a live browser/);
    assert.ok(!names.includes("mcp_builtin__check_accessibility"));
    assert.ok(names.includes("mcp_builtin__read_markdown"));
  });

  it("a variant is stored without a look at its page", async () => {
    const url = "http://127.0.0.1:9/";
    const changes = [{ op: "setText", selector: "h1", text: "New" }];
    const { results } = await playTurn(
      opened.service,
      [step("apply_variant", { baseRevision: 0, set: [{ url, changes }] })],
      { targetUrl: url },
    );
    assert.match(results[0] ?? "", /^Stored revision 1 of variant main\. This session has no browser/);
    const sent = opened.service.model.requests.at(-1);
    assert.ok(sent && !textOf(sent).includes("The page in the live browser at the start"));
  });
});

describe("with SANDBOX=none", () => {
  const opened = useService({ SANDBOX: "none", BROWSER_EXECUTABLE_PATH });

  it("the model gets no tools for files, and the prompt does not mention a workspace", async () => {
    const { text, status } = await expectMissing(opened, [...FILES, ...TESTS, ...SCRIPTS]);
    assert.doesNotMatch(text, /workspace/);
    assert.match(status.missingTools[0]?.reason ?? "", /SANDBOX=none/);
  });

  it("pages are edited without a workspace, and the API shows the browser's host", async () => {
    const site = await openSite((_request, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<h1>Old</h1>"),
    );
    const add = [{ op: "setText", selector: "h1", text: "New" }];
    const { session, results } = await playTurn(
      opened.service,
      [
        step("apply_variant", { baseRevision: 0, add }),
        step("dom_query", { selector: "h1" }),
        ...(sandboxes.isConfined ? [script("return page.locator('h1').textContent()")] : []),
      ],
      { targetUrl: site.url },
    );
    site.close();
    const [applied = "", ...read] = results;
    assert.match(applied, /^Stored revision 1 of variant main\. The live page shows it/);
    for (const result of read) assert.match(result, /New/);
    const host = { home: "local", places: 8 };
    const status = await opened.service.read(`/api/sessions/${session.sessionId}/agent/status`);
    const { browserHosts } = await opened.service.read<{ browserHosts: object[] }>("/api/ready");
    assert.partialDeepStrictEqual(status, { browserHost: host });
    assert.partialDeepStrictEqual(browserHosts, [host]);
  });
});

describe("with BROWSER_CDP_URL", () => {
  const opened = useService({ BROWSER_CDP_URL: "ws://127.0.0.1:9/not-called" });

  it("the model gets no test runs, and /api/ready starts no host", async () => {
    const { status } = await expectMissing(opened, [...TESTS, ...SCRIPTS, ...COMMANDS]);
    assert.match(
      status.missingTools.at(-1)?.reason ?? "",
      sandboxes.isConfined ? /BROWSER_CDP_URL/ : /bubblewrap/,
    );
    assert.partialDeepStrictEqual(status, { browserHost: null });
    assert.partialDeepStrictEqual(await opened.service.read("/api/ready"), { browserHosts: [] });
  });
});
