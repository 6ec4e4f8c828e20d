import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { buildClient, bundleDemoClient, demoClientFile } from "./build-client.mjs";

const run = promisify(execFile);
const TIMEOUT = { timeout: 60_000 };

/** The folder of a separate project. Only the built client is installed in it. */
let project: string;
const installed = () => join(project, "node_modules/agent-session-client");

before(async () => {
  project = await mkdtemp(join(tmpdir(), "client-user-"));
  const built = join(project, "built");
  await buildClient(process.execPath, built);
  await mkdir(join(project, "node_modules"));
  await cp(built, installed(), { recursive: true });
  await rm(built, { recursive: true });
  await writeFile(join(project, "package.json"), '{ "type": "module" }');
});
after(() => rm(project, { recursive: true, force: true }));

const PROGRAM = `import { createClient, type DomainEvent, ApiError } from "agent-session-client";
const client = createClient({ baseUrl: "http://127.0.0.1:9", apiKey: "x", fetch: async () => Response.json({ ok: true }) });
const health: { ok: true } = await client.api.readHealth();
const outcome = (event: DomainEvent) => (event.kind === "run.completed" ? event.outcome : event.seq);
export const title = async () => (await client.waitForDeliverable<{ title: string }>({ sessionId: "ses_a" })).title.length;
// @ts-expect-error a source that does not exist
export const wrong = () => client.createSession({ messages: [], source: "fax" });
console.log(health.ok, typeof outcome, new ApiError({ status: 400, code: "invalid_request", message: "subAgents: no" }).field);
`;

describe("the built client", () => {
  test("imports nothing but its own files", async () => {
    const files = await readdir(installed(), { recursive: true });
    let imports = 0;
    for (const file of files.filter((name) => /\.(?:d\.ts|js)$/.test(name))) {
      const text = await readFile(join(installed(), file), "utf8");
      for (const [, specifier = ""] of text.matchAll(/(?:\bfrom|\bimport\()\s*"([^"]+)"/g)) {
        assert.match(specifier, /^\.{1,2}\/.*\.js$/, `${file} imports ${specifier}`);
        imports++;
      }
      assert.doesNotMatch(text, /\bzod\b/, file);
    }
    assert.ok(imports > 10);
  });

  test("compiles in a strict project without any other type", async () => {
    await writeFile(join(project, "program.ts"), PROGRAM);
    const options = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      target: "es2022",
      lib: ["es2022", "dom", "dom.iterable"],
      types: [],
      skipLibCheck: false,
      module: "nodenext",
      moduleResolution: "nodenext",
      verbatimModuleSyntax: true,
    };
    const config = { compilerOptions: options, files: ["program.ts"] };
    await writeFile(join(project, "tsconfig.json"), JSON.stringify(config));
    const compiler = resolve("node_modules/typescript/bin/tsc");
    const compiled = run(process.execPath, [compiler, "-p", project], TIMEOUT).catch(({ stdout }) =>
      assert.fail(stdout),
    );
    assert.equal((await compiled).stdout, "");
  });

  test("runs in this Node and in the installed one", async () => {
    const environment = {
      ...process.env,
      PATH: process.env.PATH?.replaceAll(resolve("node_modules/.bin"), ""),
    };
    for (const node of [process.execPath, "node"]) {
      const { stdout } = await run(node, ["program.js"], { ...TIMEOUT, cwd: project, env: environment });
      assert.equal(stdout.trim(), "true function subAgents");
    }
  });
});

test("the client of the demo host page is built from the sources", async () => {
  assert.equal(await readFile(demoClientFile, "utf8"), await bundleDemoClient(), "run npm run build:client");
});
