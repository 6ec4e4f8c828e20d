import assert from "node:assert/strict";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import {
  startVercelSandbox,
  type VercelSandboxStandIn,
} from "#e2e/fixtures/vercel-sandbox/start-vercel-sandbox.ts";
import { writeBoxPrograms } from "#e2e/fixtures/vercel-sandbox/start-with-snapshot.ts";
import { waitUntil } from "#e2e/fixtures/wait-until.ts";
import { sandboxLimits } from "../sandbox-limits.ts";
import { BROWSER_HOST_PORT, createVercelBoxes } from "./create-vercel-boxes.ts";
import { programFolderIn, startInBox } from "./start-in-box.ts";
import { createVercelSandboxes } from "./vercel-sandboxes.ts";

const TOKEN = "token-of-the-host-3f9c";
/** A program like the browser host: it reads its token from standard input, keeps it in a file, and listens. */
const PROGRAM = `
const { readFileSync, writeFileSync } = require("node:fs");
const token = readFileSync(0, "utf8").trim();
writeFileSync(process.argv[1], token);
require("node:http").createServer((request, response) => response.end(token)).listen(process.env.PORT, "0.0.0.0");`;

let programs: Awaited<ReturnType<typeof writeBoxPrograms>>;
let standIn: VercelSandboxStandIn;
before(async () => {
  programs = await writeBoxPrograms();
  standIn = await startVercelSandbox({ programs: programs.folder });
});
after(async () => {
  await standIn.close();
  await programs.remove();
});

/** Opens a workspace in a box in which a program with a token runs. */
async function open(sessionId: string) {
  const boxes = createVercelBoxes({ connection: standIn.connection });
  const { box } = await boxes.open(sessionId);
  const sandboxes = createVercelSandboxes({
    boxes,
    limits: sandboxLimits,
    onStartupStatus: async () => {},
    readStartupStatus: async () => undefined,
  });
  const workspace = await sandboxes.open(sessionId);
  const secret = `${programFolderIn(box)}/token`;
  const endpoint = await startInBox(box, {
    command: "node",
    args: ["-e", PROGRAM, secret],
    env: {},
    input: TOKEN,
    port: BROWSER_HOST_PORT,
  });
  await waitUntil(
    () => fetch(endpoint).then(async (answer) => (await answer.text()) === TOKEN),
    "it listens",
  );
  const pid = (await readFile(`${programFolderIn(box)}/port-${BROWSER_HOST_PORT}.pid`, "utf8")).trim();
  const name = `agent-${sessionId.replaceAll("_", "-")}`;
  const localPort = standIn.readBox(name).ports[0]?.localPort ?? 0;
  const run = async (command: string) =>
    (await workspace.run(command, { timeoutMs: 30_000, signal: new AbortController().signal })).output;
  return { box, workspace, secret, pid, localPort, run };
}

test("commands find neither the token of the browser host nor the host, and cannot reach its port", async () => {
  const { workspace, box, secret, pid, localPort, run } = await open("ses_apart");
  const found = await run(
    `cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline ${secret} 2> /dev/null | tr '\\0' '\\n' | grep -c '[o]${TOKEN.slice(7)}'
     ls -a ${box.cwd}; ls /proc | grep -c '^${pid}$'
     (exec 3<> /dev/tcp/127.0.0.2/${localPort}) 2> /dev/null && echo reached || echo unreached`,
  );
  assert.equal(found, "0\n.\n..\n.agent-programs\nsandbox\n0\nunreached\n");
  // The program's own process has no copy either, once it runs.
  const environ = await readFile(`/proc/${pid}/environ`, "latin1");
  assert.ok(!environ.includes(TOKEN) && !environ.includes("PROGRAM_INPUT"));

  await run(`ln -s ${secret} file; ln -s ${dirname(secret)} folder; ln -s /proc/${pid}/cwd process`);
  for (const path of ["file", "folder/token", "process/.programs/token"])
    await assert.rejects(workspace.readFile(path, 1_000), /does not exist/, path);
  await assert.rejects(workspace.list("folder", { recursive: true, limit: 10 }), /is not a folder/);
});

test("no link leads a written file, or the files of a program, out of the workspace", async () => {
  const { workspace, box, secret, run } = await open("ses_links");
  const record = join(box.cwd, ".browser-image.json");
  await writeFile(record, "{}");
  await run(`ln -s ${secret} file; ln -s ${box.cwd} home; ln -s ${dirname(secret)} folder`);
  await workspace.writeFile("file", Buffer.from("changed"));
  await workspace.writeFile("home/.browser-image.json", Buffer.from("changed"));
  await assert.rejects(workspace.writeFile("folder/token", Buffer.from("changed")), /cannot be written/);
  assert.equal(await readFile(secret, "utf8"), TOKEN);
  assert.equal(await readFile(record, "utf8"), "{}");
  // A link to a file is replaced, as a file is.
  assert.equal(String((await workspace.readFile("file", 100)).bytes), "changed");
  const program = {
    runtime: "bash",
    files: [{ path: "run.sh", bytes: Buffer.from('echo changed > "$0" || echo unchanged; echo "$HOME"') }],
    script: "run.sh",
    args: [],
  } as const;
  const options = { timeoutMs: 30_000, signal: new AbortController().signal };
  assert.match((await workspace.runProgram(program, options)).output, /unchanged\n\/tmp\/home-/);
});

test("without bubblewrap, commands run as a user who cannot read what the host has", async () => {
  await programs.install("bwrap", "#!/bin/sh\nexit 1\n");
  // The stand-in's commands run as the user of the tests, who must be root to become another user, as with sudo.
  await programs.install(
    "setpriv",
    `#!/bin/sh\n[ "$(id -u)" = 0 ] || { while [ "$1" != -- ]; do shift; done; shift; exec "$@"; }\nexec /usr/bin/setpriv "$@"\n`,
  );
  const folders = standIn.boxNames().map((name) => standIn.readBox(name).folder);
  for (const folder of folders.slice(0, 1)) await chmod(dirname(dirname(folder)), 0o711);
  const { workspace, secret, pid, run } = await open("ses_lonely");
  const output = await run(
    `id -u; cat ${secret} /proc/${pid}/environ 2> /dev/null | wc -c; echo own > file; cat file`,
  );
  if (process.getuid?.() === 0) assert.match(output, /^64123\n/);
  assert.match(output, /own\n$/);
  if (process.getuid?.() === 0) assert.match(output, /\n0\nown\n$/);
  assert.equal(String((await workspace.readFile("file", 100)).bytes), "own\n");
  await programs.install("bwrap", '#!/bin/sh\nexec /usr/bin/bwrap "$@"\n');
});
