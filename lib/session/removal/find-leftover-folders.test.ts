import assert from "node:assert/strict";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { findLeftoverFolders } from "./find-leftover-folders.ts";

const NOBODY = 65_534;
const dataDir = mkdtempSync(join(tmpdir(), "leftover-folders-"));
after(() => rmSync(dataDir, { recursive: true }));

mkdirSync(join(dataDir, "workspaces/ses_a"), { recursive: true });
mkdirSync(join(dataDir, "evidence"));
writeFileSync(join(dataDir, "evidence/ses_b"), "");
writeFileSync(join(dataDir, "a-file"), "");

it("finds the folders that have an entry for the session", async () => {
  assert.deepEqual(await findLeftoverFolders(dataDir, "ses_a"), ["workspaces"]);
  assert.deepEqual(await findLeftoverFolders(dataDir, "ses_b"), ["evidence"]);
  assert.deepEqual(await findLeftoverFolders(dataDir, "ses_c"), []);
});

it("skips a folder of another user that the process must not enter, and no other folder", {
  skip: process.getuid?.() === 0 ? false : "only root can act as another user",
}, async () => {
  const volume = mkdtempSync(join(tmpdir(), "leftover-volume-"));
  try {
    chmodSync(volume, 0o755);
    mkdirSync(join(volume, "lost+found"), { mode: 0o700 });
    mkdirSync(join(volume, "workspaces"));
    chownSync(join(volume, "workspaces"), NOBODY, NOBODY);
    process.seteuid?.(NOBODY);
    assert.deepEqual(await findLeftoverFolders(volume, "ses_a"), []);
    chmodSync(join(volume, "workspaces"), 0o000);
    await assert.rejects(findLeftoverFolders(volume, "ses_a"), { code: "EACCES" });
  } finally {
    process.seteuid?.(0);
    rmSync(volume, { recursive: true });
  }
});
