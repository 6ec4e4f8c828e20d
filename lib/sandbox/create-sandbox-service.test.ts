import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createSandboxService } from "./create-sandbox-service.ts";
import { bytes, makeSandboxFixture, options, readText, refused } from "./sandbox-fixture.ts";

const { dataDir, statuses, make, sandboxes, isConfined, remove } = await makeSandboxFixture();
after(remove);

describe("opening a workspace", () => {
  it("reports starting, then ready, once", async () => {
    await Promise.all([sandboxes.open("ses_once"), sandboxes.open("ses_once")]);
    assert.deepEqual(
      statuses.filter((line) => line.startsWith("ses_once")),
      ["ses_once starting", "ses_once ready"],
    );
  });

  it("reports error when the folder cannot be made", async () => {
    await writeFile(join(dataDir, "workspaces", "ses_blocked"), "a file in the way");
    await assert.rejects(sandboxes.open("ses_blocked"));
    assert.equal(statuses.at(-1), "ses_blocked error");
  });

  it("refuses an id that is not a session's", async () => {
    await assert.rejects(sandboxes.open("../ses_x"), refused(/no session/));
  });

  it("none: open fails with a sentence, and no command can run", async () => {
    const none = await make("none");
    await assert.rejects(none.open("ses_a"), refused(/SANDBOX=none/));
    assert.equal(none.describe().canRunCommands, false);
  });

  it("vercel: asks for nothing at start, and says what it is", async () => {
    assert.match((await make("vercel")).describe().detail, /^Vercel Sandbox/);
  });

  it("without bubblewrap files work, and a command is refused with the reason", async () => {
    const bare = await make("local", {}, join(dataDir, "nothing-here"));
    assert.equal(bare.describe().canRunCommands, false);
    const workspace = await bare.open("ses_bare");
    await workspace.writeFile("a.txt", bytes("a"));
    assert.equal(await readText(workspace, "a.txt"), "a");
    await assert.rejects(
      workspace.run("echo hi", options()),
      refused(/bubblewrap \(bwrap\) is not installed/),
    );
  });

  it("a data folder that other users can pass is confined as well as one they cannot", async () => {
    const passable = await mkdtemp("/var/tmp/sandbox-test-");
    await chmod(passable, 0o755);
    const service = await createSandboxService({
      kind: "local",
      dataDir: passable,
      onStartupStatus: async () => {},
      logger: { info: () => {}, warn: () => {} },
    });
    assert.equal(service.describe().canRunCommands, isConfined);
    const run = async () => (await service.open("ses_p")).run("touch made && ls && id -u", options());
    if (isConfined) assert.match((await run()).output, /^made\n[1-9]/);
    else await assert.rejects(run(), refused(/cannot run here/));
    await rm(passable, { recursive: true });
  });

  it("a bubblewrap that exists and fails counts as none, and its words are told", async () => {
    const fake = await mkdtemp("/var/tmp/fake-bwrap-");
    await chmod(fake, 0o755);
    const script = '#!/bin/sh\n[ "$1" = --help ] && exit 0\necho "bwrap: no namespaces today" >&2\nexit 1\n';
    await writeFile(join(fake, "bwrap"), script, { mode: 0o755 });
    const broken = await make("local", {}, `${fake}:/usr/bin:/bin`);
    assert.equal(broken.describe().canRunCommands, false);
    assert.match(broken.describe().detail, /installed but does not work here: .*no namespaces today/);
    await rm(fake, { recursive: true });
  });

  it("unconfined runs commands, says so, and hands on no environment of the host", async () => {
    const open = await make("unconfined");
    assert.match(open.describe().detail, /WITHOUT confinement/);
    const workspace = await open.open("ses_open");
    process.env.HOST_CANARY = "canary-value";
    const result = await workspace.run("env; pwd", options());
    assert.equal(result.exitCode, 0);
    assert.doesNotMatch(result.output, /canary-value/);
    await open.close();
  });
});
