import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { openTestService, type TestService } from "#e2e/service/testing.ts";
import { contract } from "#lib/api/contract/contract.ts";
import { createPathMatcher } from "#lib/api/http/match-path.ts";
import { sendResponse, toWebRequest } from "#lib/server/web-messages.ts";
import { readPortingCommand } from "./read-command.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));
type Ran = { code: number | null; out: string; error: string };

let service: TestService;
let folder: string;
let variables: Record<string, string>;
let sessionId: string;
const match = createPathMatcher(contract);
const server = createServer(async (request, response) => {
  const url = new URL(request.url ?? "", service.env.baseUrl);
  const found = match(url.pathname);
  if (!found) return void response.writeHead(404).end();
  const webRequest = toWebRequest(request, response, url);
  await sendResponse(
    response,
    await service.container.mounted.serve(found.operations, webRequest, found.params),
  );
});

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "porting-"));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  service = await openTestService({ PORT: String(port), DATABASE_URL: "", DATABASE_DRIVER: "" });
  service.model.respondWith(() => ({ text: "Done." }));
  variables = {
    DATA_DIR: service.dataDir,
    PORT: String(port),
    SERVICE_API_KEYS: "other=key-of-the-other-owner,owner=key-of-the-service-tests",
  };
  const created = await service.create("Look at the shop");
  await service.completed(created.statusUrl);
  ({ sessionId } = created);
});
after(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs the command in a child process, as `npm run export` and `npm run import` do, in the folder of this test. */
async function run(words: string[], env = variables): Promise<Ran> {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", MAIN, ...words], {
    cwd: folder,
    env: { NODE_ENV: "production", PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ran: Ran = { code: null, out: "", error: "" };
  child.stdout.on("data", (chunk) => {
    ran.out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    ran.error += chunk;
  });
  await new Promise((done) => child.once("close", done));
  return { ...ran, code: child.exitCode };
}

describe("npm run export and npm run import", () => {
  it("parse their arguments, and refuse unknown ones", () => {
    const cases: [string[], RegExp][] = [
      [["export"], /id of the session to export is missing/],
      [["export", "ses_a", "--format", "pdf"], /--format pdf: must be json or html/],
      [["export", "ses_a", "--format", "html", "--evidence"], /--evidence is for JSON/],
      [["export", "ses_a", "ses_b"], /Unexpected argument: ses_b/],
      [["import", "file.json"], /--session is missing/],
      [["import", "--session", "ses_a"], /The file to import is missing/],
      [["import", "file.json", "--nothing"], /Unknown option '--nothing'/],
    ];
    for (const [words, sentence] of cases) {
      const command = readPortingCommand(words);
      assert.ok(command.kind === "invalid", words.join(" "));
      assert.match(command.message, sentence);
    }
  });

  it("work through the running service that owns the embedded database", async () => {
    const exported = await run(["export", sessionId]);
    assert.equal(exported.code, 0, exported.error);
    assert.match(exported.out, /^Wrote .*look-at-the-shop\.session\.json\.\n$/);
    const file = join(folder, "look-at-the-shop.session.json");
    assert.equal(JSON.parse(await readFile(file, "utf8")).session.id, sessionId);
    const again = await run(["export", sessionId]);
    assert.equal(again.code, 1);
    assert.match(again.error, /exists already; name another file with --out\.\n$/);

    const target = await service.create("target");
    await service.completed(target.statusUrl);
    const imported = await run(["import", file, "--session", target.sessionId]);
    assert.equal(imported.code, 0, imported.error);
    assert.match(
      imported.out,
      /^Imported .* as imp_\w+:\n {2}a conversation of 2 messages\nLeft out:\n {2}session: /,
    );
    const repeated = await run(["import", file, "--session", target.sessionId]);
    assert.match(repeated.out, /was imported before, as imp_\w+; nothing has changed/);
    const foreign = await run([
      "import",
      file,
      "--session",
      target.sessionId,
      "--key",
      "key-of-the-other-owner",
    ]);
    assert.deepEqual([foreign.code, foreign.error], [1, "Nothing was imported: no such session.\n"]);
  });

  it("work on the database of a stopped service, and leave no file of a refused export", async () => {
    server.closeAllConnections();
    await service.close({ keepFiles: true });
    try {
      const exported = await run(["export", sessionId, "--format", "html", "--out", "page.html"]);
      assert.equal(exported.code, 0, exported.error);
      assert.match(await readFile(join(folder, "page.html"), "utf8"), /^<!doctype html>[\s\S]*<\/html>\n$/);
      const missing = await run(["export", "ses_none", "--out", "none.json"]);
      assert.deepEqual([missing.code, missing.error], [1, "ses_none was not exported: no such session.\n"]);
      await writeFile(join(folder, "bad.json"), "{}");
      const refused = await run(["import", "bad.json", "--session", sessionId]);
      assert.equal(refused.code, 1);
      assert.match(refused.error, /^Nothing was imported: document: must be a session's JSON export/);
      assert.deepEqual((await readdir(folder)).sort(), [
        "bad.json",
        "look-at-the-shop.session.json",
        "page.html",
      ]);
      const elsewhere = await run(["export", sessionId], { DATA_DIR: join(folder, "elsewhere") });
      assert.match(elsewhere.error, /^The sessions cannot be accessed: there is no database in .*elsewhere/);
    } finally {
      await rm(service.dataDir, { recursive: true, force: true });
    }
  });
});
