import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { TEST_KEY } from "../testing.ts";
import { openMcpService } from "./builtin-mcp-testing.ts";

// Checks the built-in MCP server with clients that are not dependencies of the service: the official inspector's command line,
// and the client of the AI SDK. It installs pinned versions in a temporary folder (about 120 MB), so it is no part of
// `npm test`:
//
//   node e2e/service/mcp-server/other-clients.ts

const PACKAGES = ["@modelcontextprotocol/inspector@2.12.0", "@ai-sdk/mcp@2.0.99"];
const TOOLS = [
  "answer",
  "list_sessions",
  "read_session",
  "send_message",
  "start_session",
  "stop_session",
  "wait_for_session",
];

const run = promisify(execFile);

type Listed = { tools: { name: string }[] };
type Called = { isError?: boolean; structuredContent?: Record<string, unknown> };

const folder = await mkdtemp(join(tmpdir(), "mcp-clients-"));
const mcp = await openMcpService({ SANDBOX: "unconfined" });
mcp.service.model.respondWith(() => ({ text: "Done." }));
try {
  await writeFile(join(folder, "package.json"), '{"private":true,"type":"module"}');
  await run("npm", ["install", "--no-audit", "--no-fund", ...PACKAGES], { cwd: folder, timeout: 300_000 });
  await checkInspector();
  await checkAiSdk();
  console.log("Both clients start a session, wait for it and stop it.");
} finally {
  await mcp.close();
  await rm(folder, { recursive: true, force: true });
}

async function checkInspector(): Promise<void> {
  const launcher = join(
    folder,
    "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
  );
  async function inspect<Answer>(...args: string[]): Promise<Answer> {
    const common = ["--cli", mcp.url, "--transport", "http", "--header", `Authorization: Bearer ${TEST_KEY}`];
    const env = { ...process.env, HOME: folder };
    const { stdout } = await run(process.execPath, [launcher, ...common, ...args], {
      cwd: folder,
      env,
      timeout: 90_000,
    });
    return JSON.parse(stdout.slice(stdout.indexOf("{"))) as Answer;
  }
  const call = (name: string, ...pairs: string[]) =>
    inspect<Called>(
      "--method",
      "tools/call",
      "--tool-name",
      name,
      ...pairs.flatMap((pair) => ["--tool-arg", pair]),
    );
  const { tools } = await inspect<Listed>("--method", "tools/list");
  assert.deepEqual(tools.map(({ name }) => name).toSorted(), TOOLS);
  const started = await call("start_session", "text=Say something.", 'capabilities={"browser":false}');
  const sessionId = String(started.structuredContent?.sessionId);
  const waited = await call("wait_for_session", `sessionId=${sessionId}`, "timeoutSeconds=30");
  assert.equal(waited.structuredContent?.state, "done");
  const stopped = await call("stop_session", `sessionId=${sessionId}`);
  assert.equal(stopped.structuredContent?.stoppedRunId, null);
  await assert.rejects(call("read_session", "sessionId=ses_none"), /no such session|returned isError/);
}

async function checkAiSdk(): Promise<void> {
  type Tool = { execute: (input: unknown, options: unknown) => Promise<Called> };
  type Module = {
    createMCPClient: (config: unknown) => Promise<{
      tools: () => Promise<Record<string, Tool>>;
      close: () => Promise<void>;
    }>;
  };
  const entry = pathToFileURL(join(folder, "node_modules/@ai-sdk/mcp/dist/index.js")).href;
  const { createMCPClient }: Module = await import(entry);
  const headers = { Authorization: `Bearer ${TEST_KEY}` };
  const client = await createMCPClient({ transport: { type: "http", url: mcp.url, headers } });
  const tools = await client.tools();
  assert.deepEqual(Object.keys(tools).toSorted(), TOOLS);
  const call = async (name: string, input: Record<string, unknown>) => {
    const answer = await tools[name]?.execute(input, { toolCallId: "1", messages: [] });
    assert.notEqual(answer?.isError, true, JSON.stringify(answer));
    return answer?.structuredContent ?? {};
  };
  const { sessionId } = await call("start_session", {
    text: "Say something.",
    capabilities: { browser: false },
  });
  const { state } = await call("wait_for_session", { sessionId, timeoutSeconds: 30 });
  assert.equal(state, "done");
  await call("stop_session", { sessionId });
  await client.close();
}
