import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { waitUntil } from "#e2e/fixtures/wait-until.ts";

// These tests run the real npm in a project of their own, whose only package is a file. They need no network.
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type Project = { folder: string; integrity: string };

/** Creates a project with the package `part`, packed as a file. `scripts` are those of the package. */
function createProject(scripts: Record<string, string> = {}): Project {
  const folder = mkdtempSync(join(tmpdir(), "install-"));
  folders.push(folder);
  mkdirSync(join(folder, "package"));
  writeFileSync(
    join(folder, "package/package.json"),
    JSON.stringify({ name: "part", version: "1.0.0", scripts }),
  );
  execFileSync("tar", ["-czf", "part.tgz", "package"], { cwd: folder });
  const integrity = `sha512-${createHash("sha512")
    .update(readFileSync(join(folder, "part.tgz")))
    .digest("base64")}`;
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ private: true, dependencies: { part: "file:part.tgz" } }),
  );
  return { folder, integrity };
}

function lock({ folder }: Project, packages: Record<string, unknown>): void {
  writeFileSync(
    join(folder, "package-lock.json"),
    JSON.stringify({ lockfileVersion: 3, requires: true, packages }),
  );
}

const lockPart = (project: Project, integrity = project.integrity, hasInstallScript = false) =>
  lock(project, {
    "": { dependencies: { part: "file:part.tgz" } },
    "node_modules/part": { version: "1.0.0", resolved: "file:part.tgz", integrity, hasInstallScript },
  });

const INSTALL = `
  import { ensureInstalled } from ${JSON.stringify(new URL("./install.mjs", import.meta.url).href)};
  await ensureInstalled().catch((error) => { console.error(error.message); process.exitCode = 1; });`;

/** Starts the first step of the setup in a project. */
const startInstall = ({ folder }: Project): ChildProcess =>
  spawn(process.execPath, ["--input-type=module", "--eval", INSTALL], {
    cwd: folder,
    env: { ...process.env, npm_config_cache: join(folder, "cache"), npm_config_offline: "true" },
    stdio: ["ignore", "ignore", "pipe"],
  });

/** Runs the first step of the setup to its end. @returns the exit code and the error message. */
async function install(project: Project): Promise<{ code: number | null; message: string }> {
  const child = startInstall(project);
  let message = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    message += chunk.toString();
  });
  const code = await new Promise<number | null>((done) => child.once("close", done));
  return { code, message };
}

const isInstalled = ({ folder }: Project) => existsSync(join(folder, "node_modules/part/package.json"));

test("packages are installed as the lockfile says", async () => {
  const project = createProject();
  lockPart(project);
  assert.deepEqual(await install(project), { code: 0, message: "" });
  assert.equal(isInstalled(project), true);
});

test("a lockfile that does not fit package.json fails with what to do, and nothing else is installed", async () => {
  const project = createProject();
  lock(project, { "": {} });
  const { code, message } = await install(project);
  assert.equal(code, 1);
  assert.match(message, /npm ci refused package-lock\.json.*run `npm run lockfile`.*git checkout/);
  assert.equal(isInstalled(project), false);
});

test("a package with another checksum is not installed, and the error says so", async () => {
  const project = createProject();
  lockPart(project, `sha512-${Buffer.alloc(64).toString("base64")}`);
  const { code, message } = await install(project);
  assert.equal(code, 1);
  assert.match(message, /its checksum differs/);
  assert.equal(isInstalled(project), false);
});

test("an installation that was killed ends together with npm, and the next run installs everything", async () => {
  // The install script of the package waits until the test has killed the setup.
  const wait = `node -e 'require("fs").writeFileSync("../../pid", String(process.pid)); if (!require("fs").existsSync("../../go")) setInterval(() => {}, 1000)'`;
  const project = createProject({ install: wait });
  lockPart(project, project.integrity, true);
  const child = startInstall(project);
  const pidFile = join(project.folder, "pid");
  const readPid = () => (existsSync(pidFile) ? Number(readFileSync(pidFile, "utf8")) : 0);
  await waitUntil(() => readPid() > 0, "the install script runs");
  const killed = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  await killed;
  const isAlive = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  await waitUntil(() => !isAlive(readPid()), "npm and its script have ended");
  assert.equal(existsSync(join(project.folder, "node_modules/.setup.json")), false, "the step has no stamp");
  writeFileSync(join(project.folder, "go"), "");
  assert.deepEqual(await install(project), { code: 0, message: "" });
  assert.equal(isInstalled(project), true);
  assert.equal(existsSync(join(project.folder, "node_modules/.setup.json")), true);
});
