import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { readBlocks } from "#e2e/fixtures/read-blocks.ts";
import { findFreePort } from "#e2e/fixtures/service.ts";
import { type HttpTestService, openHttpTestService } from "#e2e/service/http-testing.ts";
import { TEST_KEY, waitUntil } from "#e2e/service/testing.ts";
import { buildClient } from "#lib/setup/build-client.mjs";

// Runs the examples of README.md and lib/docs/using/programs.md as they are. Only addresses and ports are replaced.

const PROGRAMS = "lib/docs/using/programs.md";

const run = promisify(execFile);
let service: HttpTestService;
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "readme-"));
  service = await openHttpTestService();
  service.model.respondWith(({ kind, answersSoFar, text }) => {
    if (kind === "structured" && text.includes("tell me what"))
      return { json: { title: "Checkout", fields: [{ name: "Email", required: true }] } };
    if (kind === "structured") return { json: { fields: ["Email", "Card"] } };
    return answersSoFar === 0 ? { toolCalls: [{ name: "list_files", arguments: {} }] } : { text: "Done." };
  });
});
after(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

const adapt = (code: string) => code.replaceAll("http://127.0.0.1:3000", service.baseUrl);
const environment = () => ({ ...process.env, BASE: service.baseUrl, KEY: TEST_KEY });
const options = () => ({ cwd: folder, env: environment(), timeout: 60_000 });
const shell = async (code: string) => (await run("sh", ["-euc", adapt(code)], options())).stdout;

test("the README's commands for a terminal create, follow and continue a session", async (t) => {
  const [receiver = "", start, create = "", follow = "", more = "", ...others] = readBlocks(
    "README.md",
    "## One session, from a terminal",
    "sh",
  );
  assert.ok(start?.includes("npm start"));
  assert.deepEqual(others, []);
  const port = await findFreePort();
  const listening = spawn("sh", ["-c", `exec ${receiver.replace("4567", String(port))}`], { cwd: folder });
  t.after(() => listening.kill());
  let received = "";
  listening.stdout.on("data", (piece: Buffer) => {
    received += piece;
  });
  await waitUntil(
    () =>
      fetch(`http://127.0.0.1:${port}`).then(
        () => true,
        () => false,
      ),
    "the receiver listens",
  );
  await mkdir(join(folder, ".data"));
  await writeFile(join(folder, ".data/api-key"), TEST_KEY);
  const printed = await shell([create.replace("4567", String(port)), follow, more].join("\n"));
  assert.match(printed, /"success":true,"sessionId":"ses_/);
  assert.match(printed, /event: run\.completed\n.*"value":\{"title":"Checkout"/);
  assert.match(printed, /"turnState":"idle".*"status":"ready"/);
  assert.match(printed, /"queued":(?:true|false)/);
  assert.match(printed, /"accepted":true/);
  await waitUntil(() => received.includes("run.completed sha256="), "the callbacks have arrived");
});

describe("the program of programs.md", () => {
  test("runs with curl", async () => {
    const [program = ""] = readBlocks(PROGRAMS, "## curl", "sh");
    const printed = await shell(program);
    assert.match(printed, /^event: tool\.call\nevent: tool\.result\n\{/);
    assert.match(printed, /"status":"ready","value":\{"fields":\["Email","Card"\]\}/);
  });

  test("compiles as strict TypeScript and runs", async (t) => {
    const [program = "", receiver = ""] = readBlocks(PROGRAMS, "## TypeScript", "ts");
    await mkdir(join(folder, "node_modules"), { recursive: true });
    await buildClient(process.execPath, join(folder, "node_modules/agent-session-client"));
    const port = await findFreePort();
    await writeFile(join(folder, "program.ts"), program);
    await writeFile(join(folder, "receiver.ts"), receiver.replace("4567", String(port)));
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      types: ["node"],
      typeRoots: [resolve("node_modules/@types")],
      module: "nodenext",
      target: "esnext",
    };
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions, files: ["program.ts", "receiver.ts"] }),
    );
    const compiler = [resolve("node_modules/typescript/bin/tsc"), "-p", folder];
    await run(process.execPath, compiler, options()).catch(({ stdout }) => assert.fail(stdout));

    const { stdout } = await run(process.execPath, ["program.ts"], options());
    assert.equal(stdout, "list_files\nEmail, Card\n");

    const listening = spawn(process.execPath, ["receiver.ts"], { cwd: folder });
    t.after(() => listening.kill());
    const url = `http://127.0.0.1:${port}`;
    await waitUntil(
      () =>
        fetch(url, { method: "POST" }).then(
          ({ status }) => status === 401,
          () => false,
        ),
      "the receiver listens",
    );
    const created = await service.create("with a callback", { callback: { url, secret: "shh" } });
    await waitUntil(async () => {
      const { data } = await service.read<{ data: { state: string }[] }>(
        `/api/sessions/${created.sessionId}/deliveries`,
      );
      return data.length === 2 && data.every(({ state }) => state === "delivered");
    }, "both callbacks are delivered");
  });

  test("runs with Python, also when its connection breaks in the middle", async (t) => {
    const python = await run("python3", ["--version"]).then(
      () => "python3",
      () => undefined,
    );
    if (python === undefined && process.env.CI !== "true") return t.skip("python3 is not installed here");
    assert.ok(python, "python3 is needed to test the example in Python");
    const [program = ""] = readBlocks(PROGRAMS, "## Python", "python");
    const check = `print(is_genuine(b"body", "sha256=${createHmac("sha256", "shh").update("body").digest("hex")}", "shh"))`;
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const respond = ({ kind, answersSoFar }: { kind: string; answersSoFar: number }) => {
      if (kind === "structured") return { json: { fields: ["Email", "Card"] } };
      return answersSoFar === 0
        ? { toolCalls: [{ name: "list_files", arguments: {} }] }
        : { text: "Done.", hold: held };
    };
    service.model.respondWith(respond);
    const child = spawn(python, ["-u", "-c", `${program}\n${check}\n`], options());
    let printed = "";
    let errors = "";
    child.stdout.on("data", (piece: Buffer) => {
      printed += piece;
    });
    child.stderr.on("data", (piece: Buffer) => {
      errors += piece;
    });
    const ended = new Promise((done) => child.once("exit", done));
    await waitUntil(() => printed.includes("list_files") || errors !== "", "the first event has arrived");
    service.cutConnections();
    release();
    await ended;
    assert.equal(errors, "");
    assert.equal(printed, "list_files\nEmail, Card\nTrue\n");
  });
});
