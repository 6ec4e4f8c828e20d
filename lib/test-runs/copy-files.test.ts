import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Workspace, WorkspaceEntry, WorkspaceFile } from "#lib/sandbox/sandbox-service.ts";
import { WorkspaceError } from "#lib/sandbox/workspace-error.ts";
import { sendFiles, takeFilesBack } from "./copy-files.ts";

const MEBIBYTE = 2 ** 20;
const UNSTOPPED = new AbortController().signal;

describe("files that are sent to a host", () => {
  /** A workspace with these files. Their content is zeros. */
  function createWorkspace(files: { path: string; sizeBytes: number }[]) {
    let reads = 0;
    const workspace = {
      list: async (_path: string, { limit }: { limit: number }) =>
        files.slice(0, limit).map((file): WorkspaceEntry => ({ ...file, type: "file" })),
      async readFile(path: string) {
        reads += 1;
        const totalBytes = files.find((each) => each.path === path)?.sizeBytes ?? 0;
        return { bytes: new Uint8Array(totalBytes), totalBytes };
      },
    } as unknown as Workspace;
    return { workspace, reads: () => reads };
  }
  const many = (count: number, sizeBytes: number) =>
    Array.from({ length: count }, (_, index) => ({ path: `file-${index}`, sizeBytes }));

  it("arrive in messages of limited size, after empty results", async () => {
    const messages: WorkspaceFile[][] = [];
    const { workspace } = createWorkspace([...many(450, 10), { path: "large", sizeBytes: 5 * MEBIBYTE }]);
    await sendFiles(workspace, { add: async (files) => void messages.push(files) }, UNSTOPPED);
    assert.deepEqual(
      messages.map((files) => files.length),
      [200, 200, 53],
    );
    assert.deepEqual(
      messages[0]?.slice(0, 2).map(({ path, bytes }) => [path, bytes.byteLength]),
      [
        ["test-results/report.jsonl", 0],
        ["test-results/progress.json", 0],
      ],
    );
  });

  for (const [what, files, message] of [
    ["too many files", many(10_001, 1), /may have at most 10000 files/],
    ["many more entries", many(30_000, 1), /may have at most 10000 files/],
    ["too many bytes", many(6, 50 * MEBIBYTE), /the workspace may have at most 256 MiB/],
    [
      "a large file",
      [{ path: "video.webm", sizeBytes: 50 * MEBIBYTE + 1 }],
      /at most 50 MiB, and video\.webm has more/,
    ],
  ] as const)
    it(`are refused before one is read, if there are ${what}`, async () => {
      const { workspace, reads } = createWorkspace([...files]);
      const sent = sendFiles(workspace, { add: async () => assert.fail("nothing is sent") }, UNSTOPPED);
      await assert.rejects(sent, message);
      assert.equal(reads(), 0);
    });

  it("are no longer read when the test run is stopped", async () => {
    const { workspace, reads } = createWorkspace(many(3, 1));
    const stopped = AbortSignal.abort(new Error("cancelled"));
    await assert.rejects(sendFiles(workspace, { add: async () => {} }, stopped), /cancelled/);
    assert.equal(reads(), 0);
  });
});

describe("files that are brought back from a host", () => {
  /** Brings files of these sizes back. @returns the sentence, and the paths that were written. */
  async function takeBack(files: Record<string, number>, refused: string[] = []) {
    const written: string[] = [];
    const sentence = await takeFilesBack(
      {
        listChanged: async () => Object.entries(files).map(([path, sizeBytes]) => ({ path, sizeBytes })),
        readFile: async () => ({ bytes: new Uint8Array(), totalBytes: 0 }),
      },
      {
        async writeFile(path) {
          if (refused.includes(path)) throw new WorkspaceError("the workspace is full");
          written.push(path);
        },
      },
    );
    return { sentence, written };
  }

  it("include the report first", async () => {
    const { sentence, written } = await takeBack({ "a.png": 1, "test-results/report.jsonl": 1 });
    assert.deepEqual([sentence, written], [null, ["test-results/report.jsonl", "a.png"]]);
  });

  it("have limits, and a sentence says what was left", async () => {
    const large = await takeBack({ a: 50 * MEBIBYTE + 1, b: 1 });
    assert.deepEqual(large, {
      sentence: "1 file of the tests is not in the workspace: a has more than 50 MiB.",
      written: ["b"],
    });
    const size = 40 * MEBIBYTE;
    const bytes = await takeBack({ a: size, b: size, c: size, d: 1 });
    assert.deepEqual(bytes, {
      sentence: "1 file of the tests is not in the workspace: at most 100 MiB are brought back.",
      written: ["a", "b", "d"],
    });
    const many = await takeBack(
      Object.fromEntries(Array.from({ length: 1_003 }, (_, index) => [`f${index}`, 1])),
    );
    assert.equal(
      many.sentence,
      "3 files of the tests are not in the workspace: at most 1000 files are brought back.",
    );
    assert.equal(many.written.length, 1_000);
  });

  it("that the workspace refuses are named with its reason", async () => {
    const { sentence, written } = await takeBack({ a: 1, b: 1 }, ["a"]);
    assert.equal(sentence, "1 file of the tests is not in the workspace: the workspace is full.");
    assert.deepEqual(written, ["b"]);
  });
});
