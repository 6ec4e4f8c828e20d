import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { CommandResult, Workspace } from "#lib/sandbox/sandbox-service.ts";
import { WorkspaceError } from "#lib/sandbox/workspace-error.ts";
import { readEnd } from "./read-end.ts";

const ended: CommandResult = {
  exitCode: 0,
  signal: null,
  output: "",
  truncated: false,
  timedOut: false,
  durationMs: 1,
};
const input = {
  files: [],
  against: ["control" as const],
  variant: null,
  grep: null,
  retries: 0,
  baseUrl: null,
  viewport: "desktop" as const,
  timeoutSeconds: 300,
};

const read = (readFile: Workspace["readFile"]) =>
  readEnd({ readFile } as Partial<Workspace> as Workspace, ended, {
    input,
    refusals: [],
    isCancelled: false,
  });

const bytesOf = (...lines: object[]) => Buffer.from(lines.map((line) => JSON.stringify(line)).join("\n"));
const finish = { type: "finish", status: "interrupted" };

describe("the end of a test run", () => {
  it("is not a pass if tests have no result", async () => {
    const bytes = bytesOf({ type: "begin", total: 2 }, finish);
    const { status, problem, counts } = await read(async () => ({ bytes, totalBytes: bytes.length }));
    assert.deepEqual([status, problem, counts.total], ["failed", "Of 2 tests, 2 have no result.", 2]);
  });

  it("mentions that the report is missing, or too large to be read completely", async () => {
    const gone = await read(async (path) => {
      throw new WorkspaceError(`path: ${path} does not exist`);
    });
    assert.equal(gone.status, "failed");
    assert.match(
      gone.problem ?? "",
      /^The report of the tests could not be read: path: .* does not exist\.\n/,
    );
    const bytes = bytesOf({ type: "begin", total: 1 });
    const large = await read(async () => ({ bytes, totalBytes: 9 * 2 ** 20 }));
    assert.equal(large.problem, "The report of the tests is larger than 8 MiB, and its end was not read.");
  });
});
