import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { deployFiles } from "#e2e/service/pages/pages-testing.ts";
import { listReports, readReport, storeReport } from "#e2e/service/reports/reports-testing.ts";
import { openTestService, type TestService } from "#e2e/service/testing.ts";
import { joinBytes } from "#lib/disk/file-name.ts";
import { readFiles } from "#lib/skills/skill-store.ts";

const run = promisify(execFile);
const embedded = { DATABASE_URL: "", DATABASE_DRIVER: "" };

let folder: string;
let archive: string;
let service: TestService;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "backup-"));
  archive = join(folder, "service.tar.gz");
  service = await openTestService(embedded, join(folder, "first"));
});
after(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs `backup` or `restore` on a data folder, in a child process as `npm run` does. */
async function command(dataDir: string, ...words: string[]) {
  return run(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", join(import.meta.dirname, "main.ts"), ...words],
    { env: { PATH: process.env.PATH ?? "", DATA_DIR: dataDir, NODE_ENV: "production" } },
  ).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    (error) => ({ code: error.code as number, text: `${error.stdout}${error.stderr}` }),
  );
}

async function readTranscript(from: TestService, sessionId: string): Promise<unknown> {
  return (await from.read<{ data: unknown }>(`/api/sessions/${sessionId}/messages`)).data;
}

/** Reads the skills of a session, and the files of the first skill. */
async function readSkills(from: TestService, sessionId: string) {
  const { data } = await from.read<{ data: { version: string }[] }>(`/api/sessions/${sessionId}/skills`);
  const files = await readFiles(from.container.services.db, data[0]?.version ?? "");
  return {
    data,
    files: files.map(({ path, bytes }) => `${path} ${Buffer.from(bytes).toString()}`).toSorted(),
  };
}

describe("a backup", () => {
  it("is written while the service runs, and restores sessions, files and keys into an empty folder", async () => {
    service.model.enqueue({ text: "It is kept." });
    const { sessionId, statusUrl } = await service.create("Keep this.");
    await service.completed(statusUrl);
    await mkdir(join(service.dataDir, "workspaces", sessionId), { recursive: true });
    await writeFile(join(service.dataDir, "workspaces", sessionId, "notes.txt"), "notes");
    const names = ["one line", "\xff\xfe", "b\xff", "two\nlines"].map((name) => Buffer.from(name, "latin1"));
    for (const name of names)
      await writeFile(joinBytes(join(service.dataDir, "workspaces", sessionId), name), name, {
        mode: 0o4755,
      });
    const transcript = await readTranscript(service, sessionId);
    const report = await readReport(service, sessionId, await storeReport(service, sessionId));
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const { page } = await deployFiles(service, { "index.html": "kept", "all.bin": bytes }, { slug: "kept" });
    const skills = await readSkills(service, sessionId);
    assert.ok(skills.files.length > 1);

    const written = await command(service.dataDir, "backup", archive);
    assert.match(written.text, /^Wrote .*service\.tar\.gz: 2 sessions, \d+ rows in \d+ tables/);
    assert.equal((await stat(archive)).mode & 0o777, 0o600);
    assert.equal((await service.call("GET", "/api/sessions")).status, 200);
    assert.deepEqual(
      (await readdir(service.dataDir)).filter((name) => name.startsWith("backup-")),
      [],
    );

    const second = join(folder, "second");
    const restored = await command(second, "restore", archive);
    assert.match(restored.text, /^Restored the backup of 20.*: 2 sessions, /);
    assert.equal(
      await readFile(join(second, "encryption-key"), "utf8"),
      await readFile(join(service.dataDir, "encryption-key"), "utf8"),
    );
    assert.equal(await readFile(join(second, "workspaces", sessionId, "notes.txt"), "utf8"), "notes");
    for (const name of names) {
      const path = joinBytes(join(second, "workspaces", sessionId), name);
      assert.deepEqual(await readFile(path), name);
      assert.equal((await stat(path)).mode & 0o7000, 0, "no set-user-ID bit");
    }
    const other = await openTestService(embedded, second);
    assert.deepEqual(await readTranscript(other, sessionId), transcript);
    assert.equal((await listReports(other, sessionId)).length, 1);
    assert.deepEqual(await readReport(other, sessionId, report.id), report);
    const { answer } = other.container.services.servedPages;
    const served = await answer({ pathname: `/p/${page.slug}/all.bin`, search: "" });
    assert.deepEqual([served.status, served.body], [200, bytes]);
    assert.deepEqual(await readSkills(other, sessionId), skills);
    const next = await other.create("And this.");
    await other.completed(next.statusUrl);
    await other.close({ keepFiles: true });
  });

  it("refuses a folder with a database without --replace, and moves the old database aside with it", async () => {
    const third = join(folder, "third");
    const before = await openTestService(embedded, third);
    const lost = await before.create("Written after the backup.");
    await before.completed(lost.statusUrl);
    await before.close({ keepFiles: true });

    const refused = await command(third, "restore", archive);
    assert.equal(refused.code, 1);
    assert.match(refused.text, /already contains a database: pass --replace to move it aside/);
    const restored = await command(third, "restore", archive, "--replace");
    assert.equal(restored.code, 0, restored.text);
    const movedTo = /moved to (.*)\.\n/.exec(restored.text)?.[1] ?? "";
    assert.ok(existsSync(join(movedTo, "postgres", "PG_VERSION")), movedTo);
    assert.ok(existsSync(join(third, "postgres", "PG_VERSION")));
  });

  it("is refused with a message if it is damaged or a service uses the folder", async () => {
    const damaged = join(folder, "damaged.tar.gz");
    await writeFile(damaged, (await readFile(archive)).subarray(0, 2_000));
    const fourth = join(folder, "fourth");
    const refused = await command(fourth, "restore", damaged);
    assert.equal(refused.code, 1);
    assert.match(refused.text, /cannot be read|no manifest|damaged/);
    assert.ok(!existsSync(join(fourth, "postgres")));
    const inUse = await command(service.dataDir, "restore", archive, "--replace");
    assert.match(inUse.text, new RegExp(`in use by process ${process.pid}`));
  });
});
