import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { errorText, hideFolder, hidePaths } from "./error-text.ts";

hideFolder("/srv/agents/data");

describe("the text of an error", () => {
  for (const [name, fails, expected] of [
    ["a file that does not exist", () => readFile("/nowhere/file"), "no such file or directory (ENOENT)"],
    ["a folder that cannot be written", () => writeFile("/proc/version/x", ""), "not a directory (ENOTDIR)"],
    ["a full device", () => writeFile("/dev/full", "x"), "no space left on device (ENOSPC)"],
    ["a program", () => promisify(execFile)("/opt/tools/no-program"), "spawn no-program ENOENT"],
  ] as const)
    it(`has no path: ${name}`, async () => {
      const error = await fails().then(
        () => assert.fail("did not fail"),
        (reason: unknown) => reason,
      );
      assert.equal(errorText(error), expected);
      assert.equal(errorText(new Error(`Not stored: ${error}`, { cause: error })).includes("/"), false);
    });

  for (const [text, shown] of [
    [
      "EACCES: permission denied, rename '/srv/agents/data/a b' -> '/srv/agents/data/it's'",
      "permission denied (EACCES)",
    ],
    [
      "bwrap: Can't find source path /srv/agents/data/workspaces/ses_1: no",
      "bwrap: Can't find source path [path] no",
    ],
    ['the folder "/srv/agents/data" is full', 'the folder "[path]" is full'],
    ["at file:///srv/agents/data/x.js:3:7", "at [path]"],
    [`Executable doesn't exist at ${homedir()}/.cache/chrome`, "Executable doesn't exist at [path]"],
    [`${join(tmpdir(), "x-1")} is busy`, "[path] is busy"],
    [`in ${join(import.meta.dirname, "error-text.ts")}`, "in [path]"],
    // Texts that are not paths of this machine.
    ["/srv/agents/database is another folder", "/srv/agents/database is another folder"],
    ["https://shop.example/srv/agents/data/x", "https://shop.example/srv/agents/data/x"],
    ["path: notes/a.md does not exist", "path: notes/a.md does not exist"],
    ["cat: /workspace/a: No such file or directory", "cat: /workspace/a: No such file or directory"],
    ["HTTP: 404, not found", "HTTP: 404, not found"],
  ] as const)
    it(`${JSON.stringify(text)} is shown as ${JSON.stringify(shown)}`, () => {
      assert.equal(hidePaths(text), shown);
      assert.equal(errorText(text), shown);
    });
});
