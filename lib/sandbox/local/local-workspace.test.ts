import assert from "node:assert/strict";
import { lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { bytes, makeSandboxFixture, readText, refused } from "../sandbox-fixture.ts";
import type { Workspace } from "../sandbox-service.ts";

const { dataDir, make, sandboxes, folderOf, remove } = await makeSandboxFixture();
after(remove);

describe("paths of a workspace", () => {
  let workspace: Workspace;
  const folder = folderOf("ses_paths");
  before(async () => {
    workspace = await sandboxes.open("ses_paths");
    await writeFile(join(dataDir, "secret.txt"), "secret");
  });

  for (const path of [
    "../secret.txt",
    "a/../../secret.txt",
    "a\\..\\b",
    "/etc/passwd",
    "\\etc",
    "C:/x",
    "a\0b",
  ]) {
    it(`${JSON.stringify(path)} is refused for reading, writing, listing and as cwd`, async () => {
      await assert.rejects(workspace.readFile(path, 10), refused(/^path: must/));
      await assert.rejects(workspace.writeFile(path, bytes("x")), refused(/^path: must/));
      await assert.rejects(workspace.list(path, { recursive: false, limit: 5 }), refused(/^path: must/));
    });
  }

  it("a file is read as it was written, and its folders are created", async () => {
    await workspace.writeFile("deep/er/note.txt", bytes("hello"));
    assert.equal(await readText(workspace, "./deep//er/note.txt"), "hello");
    assert.deepEqual(await workspace.list("", { recursive: true, limit: 10 }), [
      { path: "deep", type: "directory", sizeBytes: 0 },
      { path: "deep/er", type: "directory", sizeBytes: 0 },
      { path: "deep/er/note.txt", type: "file", sizeBytes: 5 },
    ]);
    const open = await workspace.list("", { recursive: true, limit: 10, closed: ["a", "er"] });
    assert.deepEqual(
      open.map(({ path }) => path),
      ["deep", "deep/er"],
    );
  });

  it("a link out of the workspace is not followed by reading, listing or writing", async () => {
    await symlink(join(dataDir, "secret.txt"), join(folder, "out.txt"));
    await symlink(dataDir, join(folder, "outside"));
    await assert.rejects(workspace.readFile("out.txt", 10), refused(/leads out/));
    await assert.rejects(workspace.readFile("outside/secret.txt", 10), refused(/leads out/));
    await assert.rejects(workspace.list("outside", { recursive: true, limit: 5 }), refused(/leads out/));
    await assert.rejects(workspace.writeFile("outside/new.txt", bytes("x")), refused(/is not a folder/));
    await assert.rejects(lstat(join(dataDir, "new.txt")));
    const listed = await workspace.list("", { recursive: true, limit: 100 });
    assert.ok(!listed.some((entry) => entry.path.startsWith("out")));
    const all = await workspace.list("", { recursive: true, limit: 100, all: true });
    const links = all.filter(({ path }) => path.startsWith("out"));
    assert.deepEqual(links, [
      { path: "out.txt", type: "link", sizeBytes: 0 },
      { path: "outside", type: "link", sizeBytes: 0 },
    ]);
  });

  it("writing to a link replaces the link and does not change its target", async () => {
    await symlink(join(dataDir, "secret.txt"), join(folder, "replace.txt"));
    await workspace.writeFile("replace.txt", bytes("mine"));
    assert.equal(await readFile(join(dataDir, "secret.txt"), "utf8"), "secret");
    assert.equal(await readText(workspace, "replace.txt"), "mine");
  });

  it("a link inside the workspace is read", async () => {
    await workspace.writeFile("real.txt", bytes("real"));
    await symlink("real.txt", join(folder, "alias.txt"));
    assert.equal(await readText(workspace, "alias.txt"), "real");
  });

  it("a link that is replaced repeatedly during reads never exposes files outside the workspace", async () => {
    const path = join(folder, "racy");
    await workspace.writeFile("inside/file.txt", bytes("inside"));
    await mkdir(join(dataDir, "elsewhere"), { recursive: true });
    await writeFile(join(dataDir, "elsewhere", "file.txt"), "secret");
    let racing = true;
    const race = (async () => {
      while (racing) {
        await rm(path, { force: true });
        await symlink(join(folder, "inside"), path);
        await rm(path, { force: true });
        await symlink(join(dataDir, "elsewhere"), path);
      }
    })();
    const seen = new Set<string>();
    for (let n = 0; n < 200; n++) seen.add(await readText(workspace, "racy/file.txt").catch(() => "refused"));
    racing = false;
    await race;
    assert.ok(!seen.has("secret"));
  });

  it("a missing file, a folder, and a file used as a folder have different errors", async () => {
    await assert.rejects(workspace.readFile("nowhere.txt", 10), refused(/nowhere.txt does not exist/));
    await assert.rejects(workspace.readFile("deep", 10), refused(/deep is a folder/));
    await assert.rejects(workspace.writeFile("deep", bytes("x")), refused(/deep is a folder/));
    await assert.rejects(workspace.writeFile("real.txt/x", bytes("x")), refused(/not a folder/));
    await assert.rejects(workspace.writeFile(".", bytes("x")), refused(/must name a file/));
  });

  it("reads at most the limit, and returns the whole size", async () => {
    await workspace.writeFile("long.txt", bytes("0123456789"));
    const { bytes: read, totalBytes } = await workspace.readFile("long.txt", 4);
    assert.equal(new TextDecoder().decode(read), "0123");
    assert.equal(totalBytes, 10);
  });

  it("a file over 50 MiB, and one over the quota, are refused", async () => {
    await assert.rejects(
      workspace.writeFile("big", new Uint8Array(50 * 1_048_576 + 1)),
      refused(/^content: must be at most 52428800 bytes/),
    );
    const small = await make("local", { workspaceBytesMax: 100_000 }, { launcherPath: "/nowhere" });
    const little = await small.open("ses_little");
    await little.writeFile("a", new Uint8Array(60_000));
    await assert.rejects(little.writeFile("b", new Uint8Array(60_000)), refused(/over its quota/));
  });

  it("a file that is overwritten many times counts once towards the quota", async () => {
    const small = await make(
      "local",
      { workspaceBytesMax: 100_000, workspaceEntriesMax: 5 },
      { launcherPath: "/nowhere" },
    );
    const workspace = await small.open("ses_overwritten");
    for (let time = 0; time < 10; time++) await workspace.writeFile("a", new Uint8Array(30_000));
  });

  it("no temporary file is left behind", async () => {
    assert.ok(!(await readdir(folder)).some((name) => name.endsWith(".tmp")));
  });
});
