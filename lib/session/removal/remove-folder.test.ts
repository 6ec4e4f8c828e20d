import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { RemovalError, removeFolder } from "./remove-folder.ts";
import { makeUnremovable } from "./remove-folder-testing.ts";

let base: string;
before(async () => {
  base = await mkdtemp(join(tmpdir(), "remove-folder-"));
});
after(() => rm(base, { recursive: true, force: true }));

test("removes paths longer than PATH_MAX, folders without permissions, links (not their targets) and many files", async () => {
  const folder = join(base, "deep");
  const outside = join(base, "outside");
  await mkdir(folder);
  await mkdir(outside);
  await writeFile(join(outside, "kept"), "kept");
  const name = "d".repeat(200);
  const deepest = `${folder}${`/${name}`.repeat(60)}`;
  const script = `
    for n in $(seq 60); do mkdir ${name} && cd ${name} && echo x > file; done
    cd "$1" && mkdir many closed && seq 1000 | sed s,^,many/, | xargs touch
    touch closed/file && chmod 0 closed`;
  execFileSync("bash", ["-ec", script, "bash", folder], { cwd: folder });
  await symlink(outside, join(folder, "link"));
  await assert.rejects(stat(deepest), { code: "ENAMETOOLONG" });
  await removeFolder(folder);
  assert.ok(!existsSync(folder));
  assert.ok(existsSync(join(outside, "kept")));
});

test("removes files and folders whose names are not UTF-8, or that differ only in such bytes", async () => {
  const folder = join(base, "bytes");
  await mkdir(folder);
  const script = String.raw`
    mkdir $'d\xff' $'d\xfe' $'d\xff/e\xfe' && echo a > $'d\xff/e\xfe/f\xff' && echo b > $'f\xff'
    echo c > $'f\xfe' && echo d > $'line\nbreak' && ln -s . $'l\xff' && chmod 0 $'d\xfe'`;
  execFileSync("bash", ["-ec", script], { cwd: folder });
  await removeFolder(folder);
  assert.ok(!existsSync(folder));
});

test("removes everything else before it reports a failure without a path, and a later call finishes", async () => {
  const folder = join(base, "locked");
  await mkdir(join(folder, "a/b/c"), { recursive: true });
  await writeFile(join(folder, "a/b/c/file"), "x");
  const unlock = await makeUnremovable(folder);
  await assert.rejects(removeFolder(folder), (error) => {
    assert.ok(error instanceof RemovalError);
    assert.match(error.message, /^a file or folder could not be removed \(E[A-Z]+\)$/);
    return true;
  });
  assert.ok(!existsSync(join(folder, "a")));
  await unlock();
  await removeFolder(folder);
  assert.ok(!existsSync(folder));
});

test("removes a file in place of the folder, and accepts a missing folder", async () => {
  const path = join(base, "file");
  await writeFile(path, "x");
  await chmod(path, 0o400);
  await removeFolder(path);
  assert.ok(!existsSync(path));
  await removeFolder(path);
});
