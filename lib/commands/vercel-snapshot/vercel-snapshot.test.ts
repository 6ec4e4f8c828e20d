import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  startVercelSandbox,
  type VercelSandboxStandIn,
} from "#e2e/fixtures/vercel-sandbox/start-vercel-sandbox.ts";
import {
  BOX_PROGRAMS,
  chromiumVariables,
  writeBoxPrograms,
} from "#e2e/fixtures/vercel-sandbox/start-with-snapshot.ts";
import { createVercelBoxes } from "#lib/sandbox/vercel/create-vercel-boxes.ts";
import { probeBubblewrap, readImageRecord } from "#lib/sandbox/vercel/image-record.ts";
import { makeSnapshot } from "./make-snapshot.ts";
import { readSnapshotCommand } from "./read-command.ts";

let programs: Awaited<ReturnType<typeof writeBoxPrograms>>;
let standIn: VercelSandboxStandIn;
before(async () => {
  programs = await writeBoxPrograms();
  standIn = await startVercelSandbox({ programs: programs.folder, env: chromiumVariables() });
});
after(async () => {
  await standIn.close();
  await programs.remove();
});

/** Runs `npm run vercel-snapshot` as a program that knows nothing of the stand-in. */
async function runProgram(...words: string[]) {
  const main = join(import.meta.dirname, "main.ts");
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...words], {
    env: { NODE_ENV: "production", PATH: process.env.PATH ?? "", ...standIn.variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const [code] = await once(child, "close");
  return { code: code as number | null, output };
}

const make = () => makeSnapshot({ playwright: "1.2.3", onStep: () => {}, connection: standIn.connection });

describe("npm run vercel-snapshot", () => {
  it("makes a snapshot with Chromium from which boxes start, and records what it tried out", async () => {
    const { code, output } = await runProgram("--expire-days", "7");
    assert.equal(code, 0, output);
    const [, snapshotId = ""] = /^VERCEL_SANDBOX_SNAPSHOT=(\S+)$/m.exec(output) ?? [];
    assert.match(output, /^The snapshot expires on 20\d\d-/m);
    assert.deepEqual([standIn.boxNames(), standIn.snapshotIds()], [[], [snapshotId]]);
    const starts = standIn.requests.flatMap(({ path, body }) =>
      path.endsWith("/cmd") ? [body as { args: string[]; sudo: boolean }] : [],
    );
    const roots = starts.filter(({ sudo }) => sudo).map(({ args }) => args[1] ?? "");
    assert.match(roots[0] ?? "", /apt-get install -y --no-install-recommends bubblewrap/);
    assert.match(roots[1] ?? "", /npx --yes playwright@\d+\.\d+\.\d+ install-deps/);

    const boxes = createVercelBoxes({ connection: standIn.connection, source: { snapshotId } });
    const { box } = await boxes.open("ses_image");
    const record = await readImageRecord(box);
    // What Chromium reports on standard error is not taken for the answers.
    assert.match(record?.chromium.path ?? "", /^\.browsers\/[\w./-]+\/chrome-headless-shell$/);
    assert.match(record?.chromium.version ?? "", /^[A-Z][\w ]+ \d+\.\d+/);
    assert.ok(output.includes(record?.chromium.version ?? "no version"));
    // This machine's kernel decides, so the recorded answer is compared with a probe of a new box.
    assert.equal(record?.bubblewrap, await probeBubblewrap(box));
    await boxes.remove("ses_image");
  });

  it("says which step failed with the end of its output, and leaves neither a box nor a snapshot", async () => {
    const before = standIn.snapshotIds();
    await programs.install("apt-get", "#!/bin/sh\necho 'E: Unable to locate package'; exit 100\n");
    await assert.rejects(
      make(),
      /^Error: Installing bubblewrap failed with exit code 100:\nE: Unable to locate/,
    );
    await programs.install("apt-get", BOX_PROGRAMS["apt-get"]);
    await programs.install("npx", "#!/bin/sh\nexit 0\n");
    await assert.rejects(make(), /Trying out Chromium failed with exit code 1:/);
    await programs.install("npx", BOX_PROGRAMS.npx.replace("exec", "exit 7; exec"));
    await assert.rejects(make(), /Trying out Chromium failed with exit code 1/);
    await programs.install("npx", BOX_PROGRAMS.npx);
    assert.deepEqual([standIn.boxNames(), standIn.snapshotIds()], [[], before]);
  });

  it("records that bubblewrap works as root only, or not at all", async () => {
    const counts = join(programs.folder, "count");
    // The first probe is that of the user.
    await programs.install("bwrap", `#!/bin/sh\n[ -e "${counts}" ] || { touch "${counts}"; exit 1; }\n`);
    assert.equal((await make()).record.bubblewrap, "sudo");
    await programs.install("bwrap", "#!/bin/sh\nexit 1\n");
    const made = await make();
    assert.equal(made.record.bubblewrap, "none");
    await rm(join(programs.folder, "bwrap"));
  });

  it("reads its options, and refuses others", async () => {
    assert.deepEqual(readSnapshotCommand(["--image", "own:v1", "--expire-days", "0"]), {
      kind: "make",
      image: "own:v1",
      expireDays: 0,
    });
    for (const words of [
      ["--expire-days", "-1"],
      ["--expire-days", "1.5"],
      ["--image", ""],
      ["--other"],
      ["x"],
    ])
      assert.equal(readSnapshotCommand(words).kind, "invalid", words.join(" "));
    assert.equal(readSnapshotCommand(["--help"]).kind, "help");
  });
});
