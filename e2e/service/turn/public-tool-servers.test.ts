import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { bridgeToolServer } from "#e2e/fixtures/mcp/bridge-tool-server.ts";
import { createSchemaChecker } from "#lib/deliverable/admission/create-schema-checker.ts";
import { openMcpBench } from "#lib/mcp-client/testing.ts";
import type { McpAnswer } from "#lib/mcp-client/tools/read-answer.ts";

// The public servers of the Model Context Protocol, which are programs that speak over their standard input and output.
// A bridge serves them over Streamable HTTP.

const bench = openMcpBench();
const schemas = createSchemaChecker();
const closing: (() => Promise<unknown>)[] = [];
let folder: string;

before(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "public-servers-")));
});
after(async () => {
  await Promise.all([bench.close(), schemas.close()]);
  for (const close of closing) await close();
  await rm(folder, { recursive: true, force: true });
});

type Options = Parameters<typeof bench.open>[1];

async function open(name: string, args: string[], options: Options = {}) {
  const program = createRequire(import.meta.url).resolve(`@modelcontextprotocol/${name}/dist/index.js`);
  const server = await bridgeToolServer([process.execPath, program, ...args], bench.certificate);
  closing.push(server.close);
  const checkOutput = (schema: unknown, value: unknown) =>
    schemas.validateValue(schema, value, { isAnyRoot: true });
  const turn = bench.open({ crm: server.url }, { checkOutput, ...options });
  const { tools, skipped } = await turn.list();
  assert.deepEqual(skipped, []);
  let calls = 0;
  const call = (tool: string, input: Record<string, unknown> = {}) => {
    const remote = tools.find((each) => each.tool === tool);
    return turn.call(tool, { callId: `call_${++calls}`, input, remote });
  };
  return { tools, questions: turn.questions, call };
}

const textOf = ({ isError, parts }: McpAnswer): string => {
  assert.equal(isError, false, JSON.stringify(parts));
  return parts.map((part) => (part.type === "picture" ? "[picture]" : part.text)).join("\n");
};

describe("the public servers of the protocol", () => {
  it("server-everything: all kinds of answers, progress, a task, and a question to a person", async () => {
    const name = "Ada";
    const { call, questions } = await open("server-everything", ["stdio"], {
      mayAskPeople: true,
      answer: () => ({ state: "answered", answer: { name } }),
    });
    assert.equal(textOf(await call("echo", { message: "hello" })), "Echo: hello");
    assert.match(textOf(await call("get-sum", { a: 2, b: 3 })), /\b5\b/);
    assert.match(textOf(await call("get-tiny-image")), /\[picture\]/);
    const weather = JSON.parse(textOf(await call("get-structured-content", { location: "Chicago" })));
    assert.equal(typeof weather.temperature, "number");
    assert.match(
      textOf(await call("get-resource-reference", { resourceType: "Text", resourceId: 1 })),
      /\[Resource demo:/,
    );
    assert.match(textOf(await call("get-resource-links", { count: 2 })), /\[Link to a resource: demo:/);
    assert.match(
      textOf(await call("trigger-long-running-operation", { duration: 1, steps: 3 })),
      /completed/,
    );
    assert.match(
      textOf(await call("simulate-research-query", { topic: "harbours" })),
      /Research Report: harbours/,
    );
    assert.match(textOf(await call("trigger-elicitation-request")), new RegExp(name));
    assert.equal(questions.length, 1);
    assert.ok(Object.keys(questions[0]?.form?.properties ?? {}).length > 5);
    const invalid = await call("get-sum", { a: "two" });
    assert.equal(invalid.isError, true);
  });

  it("server-filesystem: reads and writes in its folder only, with checked structured content", async () => {
    const root = join(folder, "root");
    const file = join(root, "a.txt");
    await mkdir(root);
    await writeFile(file, "one\ntwo\n");
    await writeFile(join(folder, "secret.txt"), "a secret");
    await symlink(join(folder, "secret.txt"), join(root, "link.txt"));
    const { tools, call } = await open("server-filesystem", [root]);
    assert.equal(tools.find(({ tool }) => tool === "read_text_file")?.isReadOnly, true);
    assert.equal(tools.find(({ tool }) => tool === "write_file")?.isReadOnly, false);
    assert.ok(tools.every(({ outputSchema }) => outputSchema !== undefined));
    const read = textOf(await call("read_text_file", { path: file, head: 1 }));
    assert.match(read, /one/);
    assert.doesNotMatch(read, /two|does not fit/);
    assert.match(textOf(await call("write_file", { path: join(root, "b.txt"), content: "three" })), /wrote/);
    const edits = [{ oldText: "three", newText: "four" }];
    assert.match(textOf(await call("edit_file", { path: join(root, "b.txt"), edits })), /\+four/);
    assert.equal(await readFile(join(root, "b.txt"), "utf8"), "four");
    assert.match(textOf(await call("list_directory", { path: root })), /b\.txt/);
    assert.match(textOf(await call("search_files", { path: root, pattern: "*.txt" })), /a\.txt/);
    for (const path of [join(folder, "secret.txt"), join(root, "link.txt"), join(root, "..", "secret.txt")]) {
      const refused = await call("read_text_file", { path });
      assert.equal(refused.isError, true);
      assert.doesNotMatch(JSON.stringify(refused), /a secret/);
    }
  });
});
