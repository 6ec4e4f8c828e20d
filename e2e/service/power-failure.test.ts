import assert from "node:assert/strict";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { openTestDatabase } from "#db/testing.ts";
import { createEvidenceStore } from "#lib/evidence/evidence.ts";
import { createSandboxService } from "#lib/sandbox/create-sandbox-service.ts";
import { readOrCreateSecrets } from "#lib/server/prepare-data-folder.ts";
import { insertTestSession } from "#lib/session/transcript/transcript-fixture.ts";
import { createDisk, findObstacle } from "../faults/plug/create-disk.ts";

const logger = { info: () => {}, warn: () => {} };

describe("files on a disk whose power fails just after they were reported as written", () => {
  it("are there, and complete", async (t) => {
    const obstacle = await findObstacle();
    if (obstacle !== undefined) return t.skip(obstacle);
    const { db, close } = await openTestDatabase();
    t.after(close);
    const { runId } = await insertTestSession(db, "ses_power");
    const disk = await createDisk();
    t.after(() => disk.remove());
    const { dataDir } = disk;
    await mkdir(dataDir);
    const secrets = await readOrCreateSecrets(dataDir);
    const sandbox = await createSandboxService({
      kind: "unconfined",
      dataDir,
      onStartupStatus: async () => {},
      logger,
    });
    const workspace = await sandbox.open("ses_power");
    await workspace.writeFile("a/b/written.txt", Buffer.from("written"));
    const signal = new AbortController().signal;
    const result = await workspace.run(
      "mkdir c && echo made > c/made.txt && mv a/b/written.txt a/b/moved.txt && echo gone > gone && rm gone",
      { timeoutMs: 20_000, signal },
    );
    assert.equal(result.output, "");
    await workspace.writeFile("a/again/$HOME.txt", Buffer.from("again"));
    const evidence = await createEvidenceStore({ db, dataDir }).save({
      sessionId: "ses_power",
      runId,
      kind: "screenshot",
      title: "t",
      url: null,
      mediaType: "image/png",
      bytes: Buffer.from("picture"),
    });

    await disk.pullPlug();
    await sandbox.close();
    await disk.unmount();
    await disk.mount();

    const read = (...path: string[]) => readFile(join(dataDir, ...path), "utf8").catch((error) => error.code);
    assert.deepEqual(
      {
        written: await read("workspaces/ses_power/a/b/moved.txt"),
        again: await read("workspaces/ses_power/a/again/$HOME.txt"),
        made: await read("workspaces/ses_power/c/made.txt"),
        names: (await readdir(join(dataDir, "workspaces/ses_power")).catch(() => [])).toSorted(),
        evidence: await read("evidence/ses_power", evidence.id),
        apiKey: await read("api-key"),
        encryptionKey: await read("encryption-key"),
      },
      {
        written: "written",
        again: "again",
        made: "made\n",
        names: ["a", "c"],
        evidence: "picture",
        apiKey: `${secrets.apiKey}\n`,
        encryptionKey: `${secrets.encryptionKey.toString("base64")}\n`,
      },
    );
  });
});
