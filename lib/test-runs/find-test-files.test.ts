import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Workspace } from "#lib/sandbox/sandbox-service.ts";
import { findTestFiles } from "./find-test-files.ts";

const FILES = [
  "tests/a.spec.ts",
  "tests/deep/b.test.mjs",
  "tests/helper.ts",
  "tests-2/c.spec.tsx",
  "notes (1)/d+.spec.js",
  "node_modules/x/x.spec.js",
  "test-results/files/y.spec.ts",
];

const find = (requested: string[], files = FILES) =>
  findTestFiles(
    {
      async list(_path, { limit, closed = [] }) {
        const isOpen = (path: string) => !path.split("/").some((name) => closed.includes(name));
        return files
          .filter(isOpen)
          .slice(0, limit)
          .map((path) => ({ path, type: "file" as const, sizeBytes: 1 }));
      },
    } as Partial<Workspace> as Workspace,
    requested,
  );

/**
 * Returns the files that match the patterns of `find`. As in Playwright, the patterns are matched against absolute
 * paths.
 */
async function select(requested: string[]): Promise<string[]> {
  const found = await find(requested);
  assert.ok(found.ok);
  return FILES.filter((path) =>
    found.patterns.some((pattern) => new RegExp(pattern).test(`/workspace/${path}`)),
  );
}

describe("test files of the workspace", () => {
  it("are found by file and by folder, in any notation of the path", async () => {
    assert.deepEqual(await select(["tests/a.spec.ts"]), ["tests/a.spec.ts"]);
    assert.deepEqual(await select(["./tests/"]), [
      "tests/a.spec.ts",
      "tests/deep/b.test.mjs",
      "tests/helper.ts",
    ]);
    assert.deepEqual(await select(["/workspace/tests-2"]), ["tests-2/c.spec.tsx"]);
    assert.deepEqual(await select(["notes (1)/d+.spec.js"]), ["notes (1)/d+.spec.js"]);
  });

  it("are all test files if no path is requested, or if the root is", async () => {
    assert.deepEqual(await find([]), { ok: true, patterns: [] });
    assert.deepEqual(await find(["."]), { ok: true, patterns: [] });
    assert.deepEqual(await find(["/workspace"]), { ok: true, patterns: [] });
  });

  it("a path without test files is an error that names the existing test files", async () => {
    for (const name of ["tests/helper.ts", "tests/a", "node_modules/x", "../etc", "tests/a.spec.ts/x"])
      assert.deepEqual(await find([name]), {
        ok: false,
        problem: `There is no test file at ${name}. The workspace has tests/a.spec.ts, tests/deep/b.test.mjs, tests-2/c.spec.tsx, notes (1)/d+.spec.js.`,
      });
    const many = Array.from({ length: 20_000 }, (_, index) => `data/${index}.json`);
    const cut = await find([], [...many, "tests/a.spec.ts"]);
    assert.match(
      cut.ok ? "" : cut.problem,
      /no test files: .* Only its first 20000 files and folders were searched/,
    );
    const none = await find([], ["tests/helper.ts"]);
    assert.match(none.ok ? "" : none.problem, /^The workspace has no test files: their names end in/);
  });
});
