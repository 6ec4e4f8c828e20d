import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import sharp from "sharp";
import { openTestDatabase } from "#db/testing.ts";
import { createEvidenceStore } from "#lib/evidence/evidence.ts";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import { createGuardedFetch } from "#lib/net/fetch/guarded-fetch.ts";
import { createSandboxService } from "#lib/sandbox/create-sandbox-service.ts";
import { insertTestSession } from "#lib/session/transcript/transcript-fixture.ts";
import { type ToolCall, type ToolResult, unlessWaiting } from "../tool.ts";
import { workspaceTools } from "./workspace-tools.ts";

const { db, close } = await openTestDatabase();
const dataDir = await mkdtemp(join(tmpdir(), "workspace-tools-"));
const { runId, requestId } = await insertTestSession(db, "ses_w");
const fetch = createGuardedFetch(createAddressRule({ allow: [] }));
const evidence = createEvidenceStore({ db, dataDir });
const common = { dataDir, onStartupStatus: async () => {}, logger: { info: () => {}, warn: () => {} } };
const sandbox = await createSandboxService({ ...common, kind: "local" });
const canRun = sandbox.describe().canRunCommands;
const tools = workspaceTools({ sandbox, evidence, fetch });
const call: ToolCall = {
  sessionId: "ses_w",
  browserSessionId: "ses_w",
  rootSessionId: "ses_w",
  requestId,
  runId,
  callId: "call_1",
  mayAskPeople: false,
  hasTool: () => true,
  signal: new AbortController().signal,
};
const use = async (name: string, input: unknown, from = tools): Promise<ToolResult> => {
  const tool = from.find((candidate) => candidate.name === name);
  assert.ok(tool, name);
  return unlessWaiting(await tool.execute(input, call));
};
const textOf = (result: ToolResult) =>
  result.content.map((content) => (content.type === "text" ? content.text : "")).join("");
const answer = async (name: string, input: unknown) => {
  const result = await use(name, input);
  assert.equal(result.isError, false, textOf(result));
  return textOf(result);
};
const refusal = async (name: string, input: unknown) => {
  const result = await use(name, input);
  assert.equal(result.isError, true);
  return textOf(result);
};
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

after(async () => {
  await Promise.all([sandbox.close(), fetch.close(), close()]);
  await rm(dataDir, { recursive: true, force: true });
});

describe("files of the workspace", () => {
  it("write_file then read_file gives the text back", async () => {
    assert.match(await answer("write_file", { path: "notes/a.md", content: "# Grüße" }), /Wrote 9 bytes/);
    assert.equal(await answer("read_file", { path: "notes/a.md" }), "# Grüße");
  });

  it("read_file reads from an offset and says where to continue", async () => {
    await answer("write_file", { path: "long.txt", content: "0123456789" });
    const first = await answer("read_file", { path: "long.txt", limit: 4 });
    assert.equal(first, "0123\n[characters 0 to 4 of 10; continue with offset 4]");
    const last = await answer("read_file", { path: "long.txt", offset: 8 });
    assert.equal(last, "89\n[characters 8 to 10 of 10]");
  });

  it("read_file cuts no character, so that its pages yield the whole text", async () => {
    const content = `a${"😀".repeat(5)}`;
    await answer("write_file", { path: "faces.txt", content });
    let text = "";
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const page = await answer("read_file", { path: "faces.txt", offset, limit: 2 });
      text += page.slice(0, page.lastIndexOf("\n["));
      const next = /continue with offset (\d+)/.exec(page)?.[1];
      offset = next === undefined ? undefined : Number(next);
    }
    assert.equal(text, content);
    assert.match(
      await answer("read_file", { path: "faces.txt", offset: 2, limit: 1 }),
      /^😀\n\[characters 1 to 3 of 11/,
    );
  });

  it("list_files of a file says that it is not a folder", async () => {
    await answer("write_file", { path: "single.txt", content: "one" });
    assert.equal(await refusal("list_files", { path: "single.txt" }), "path: single.txt is not a folder");
  });

  it("read_file refuses a binary file", async () => {
    await writeFile(join(dataDir, "workspaces", "ses_w", "pixel.png"), png, { mode: 0o644 });
    assert.match(await refusal("read_file", { path: "pixel.png" }), /not text .* view_image/);
  });

  it("list_files shows files with sizes and folders with a slash", async () => {
    assert.equal(await answer("list_files", { path: "notes" }), "notes/a.md  9");
    assert.match(await answer("list_files", { recursive: true }), /^notes\/$/m);
  });

  it("list_files shows at most 1,000 entries, and says that there are more", async () => {
    await answer("write_file", { path: "many/0", content: "" });
    const folder = join(dataDir, "workspaces", "ses_w", "many");
    const fill = (from: number, to: number) =>
      Promise.all(
        Array.from({ length: to - from }, (_, index) => writeFile(join(folder, `${from + index}`), "")),
      );
    await fill(1, 1_000);
    const whole = (await answer("list_files", { path: "many" })).split("\n");
    assert.deepEqual([whole.length, whole.at(-1)], [1_000, "many/999  0"]);
    await fill(1_000, 1_001);
    const cut = (await answer("list_files", { path: "many" })).split("\n");
    assert.deepEqual([cut.length, cut.at(-1)], [1_001, "[more than 1000 entries: list a folder below]"]);
  });

  it("a path out of the workspace is an error that the model can read", async () => {
    assert.match(await refusal("read_file", { path: "../../etc/passwd" }), /must not contain "\.\."/);
    assert.match(await refusal("write_file", { path: "/etc/x", content: "" }), /must be relative/);
    assert.match(await refusal("list_files", { path: "nowhere" }), /does not exist/);
  });

  it("if another process has the session's files, errors and lists say that files are missing", async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), "workspace-elsewhere-"));
    const moved = await createSandboxService({
      ...common,
      kind: "local",
      dataDir: elsewhere,
      readStartupStatus: async (sessionId) => (sessionId === "ses_w" ? "ready" : "uninitialized"),
    });
    const movedTools = workspaceTools({ sandbox: moved, evidence, fetch });
    const missing =
      /its files are not here: they are in the data folder of another process of the service, or lost/;
    try {
      const read = await use("read_file", { path: "notes/a.md" }, movedTools);
      assert.equal(read.isError, true);
      assert.match(
        textOf(read),
        /^path: notes\/a\.md does not exist; the session's workspace was used before/,
      );
      assert.match(textOf(read), missing);
      const list = textOf(await use("list_files", {}, movedTools));
      assert.match(list, /^\[the folder is empty\]\n\[/);
      assert.match(list, missing);
      await use("write_file", { path: "new.md", content: "new" }, movedTools);
      assert.match(textOf(await use("list_files", {}, movedTools)), missing);
      if (canRun) {
        assert.match(textOf(await use("run_shell", { command: "cat notes/a.md" }, movedTools)), missing);
        assert.doesNotMatch(textOf(await use("run_shell", { command: "cat new.md" }, movedTools)), missing);
      }
    } finally {
      await moved.close();
      await rm(elsewhere, { recursive: true, force: true });
    }
  });

  it("without a sandbox, every workspace tool answers that none is available", async () => {
    const none = await createSandboxService({ ...common, kind: "none" });
    const without = workspaceTools({ sandbox: none, evidence, fetch });
    for (const [name, input] of [
      ["read_file", { path: "a" }],
      ["run_shell", { command: "ls" }],
      ["view_image", { path: "a" }],
    ] as const) {
      const result = await use(name, input, without);
      assert.match(textOf(result), /this deployment has no sandbox/);
      assert.equal(result.isError, true);
    }
  });
});

describe("run_shell", () => {
  it(
    canRun
      ? "answers output, exit code and duration"
      : "answers plainly why no command can run (no confinement on this machine)",
    async () => {
      if (!canRun) {
        assert.match(await refusal("run_shell", { command: "ls" }), /commands cannot run here/);
        return;
      }
      const output = await answer("run_shell", { command: "cat a.md; echo; exit 4", cwd: "notes" });
      assert.match(output, /^# Grüße\n\[exit code 4, \d+ ms\]$/);
      const zero = await answer("run_shell", { command: "printf 'a\\0b'" });
      assert.match(zero, /^a\ufffdb\n/, "NUL, which no database takes as text");
      assert.match(await answer("run_shell", { command: "sleep 9", timeoutMs: 50 }), /SIGKILL, timed out/);
      assert.match(await refusal("run_shell", { command: "ls", cwd: "nowhere" }), /does not exist/);
    },
  );

  it("without confinement it answers plainly why, and starts no workspace", async () => {
    const opened: string[] = [];
    const bare = await createSandboxService({
      ...common,
      kind: "local",
      launcherPath: join(dataDir, "nothing"),
      onStartupStatus: async (sessionId) => void opened.push(sessionId),
    });
    const result = await use(
      "run_shell",
      { command: "ls" },
      workspaceTools({ sandbox: bare, evidence, fetch }),
    );
    assert.equal(result.isError, true);
    assert.match(textOf(result), /bubblewrap \(bwrap\) is not installed.*SANDBOX=unconfined/);
    assert.deepEqual(opened, []);
  });

  it("is not idempotent, and takes at most ten minutes", async () => {
    const tool = tools.find(({ name }) => name === "run_shell");
    assert.equal(tool?.idempotent, false);
    await assert.rejects(use("run_shell", { command: "ls", timeoutMs: 600_001 }));
    await assert.rejects(use("run_shell", { command: "a\0b" }));
  });
});

describe("view_image", () => {
  it("shows a picture of the workspace and stores it as evidence", async () => {
    const result = await use("view_image", { path: "pixel.png" });
    const [image] = result.content;
    assert.ok(image?.type === "image");
    assert.equal(image.evidence.mediaType, "image/png");
    assert.deepEqual(Buffer.from(image.data), png);
    const stored = await evidence.read("ses_w", image.evidence.id);
    assert.equal(stored?.pointer.title, "pixel.png");
  });

  it("shows stored evidence by its id", async () => {
    const saved = await evidence.save({
      sessionId: "ses_w",
      runId,
      kind: "screenshot",
      title: "shot",
      url: null,
      mediaType: "image/png",
      bytes: png,
    });
    const [image] = (await use("view_image", { evidenceId: saved.id })).content;
    assert.deepEqual(image?.type === "image" && image.evidence, saved);
  });

  it("shows a high picture in readable parts, and the part that is asked for", async () => {
    const high = { width: 1280, height: 9_000, channels: 3, background: "#888" } as const;
    const saved = await evidence.save({
      sessionId: "ses_w",
      runId: null,
      kind: "screenshot",
      title: "High",
      url: null,
      mediaType: "image/png",
      bytes: await sharp({ create: high }).png().toBuffer(),
    });
    const view = async (part?: number) => {
      const { content } = await use("view_image", { evidenceId: saved.id, ...(part && { part }) });
      const [note, ...images] = content;
      assert.ok(note?.type === "text");
      return [note.text, images.map((image) => image.type === "image" && image.part?.top)];
    };
    assert.deepEqual(await view(), [
      `Shown here: parts 1 to 3 of 6, px 0 to 4500 of 9000 in height. The others: view_image with evidenceId ${saved.id} and the number of a part.`,
      [0, 1500, 3000],
    ]);
    assert.deepEqual((await view(6))[1], [7500]);
    assert.equal(
      await refusal("view_image", { evidenceId: saved.id, part: 7 }),
      "part: the picture has 6 parts, and no part 7",
    );
  });

  it("says that evidence is missing if its file is", async () => {
    const fields = { sessionId: "ses_w", runId, kind: "screenshot", title: "shot", url: null } as const;
    const saved = await evidence.save({ ...fields, mediaType: "image/png", bytes: png });
    await rm(join(dataDir, "evidence", "ses_w", saved.id));
    assert.equal(
      await refusal("view_image", { evidenceId: saved.id }),
      `evidenceId: ${saved.id} cannot be shown, because its file is missing: it was lost, or it is in the data folder of another process of the service`,
    );
  });

  it("detects the type by the first bytes, not by the name", async () => {
    await answer("write_file", { path: "fake.png", content: "<script>" });
    assert.match(await refusal("view_image", { path: "fake.png" }), /not a PNG, JPEG, WebP or GIF/);
  });

  it("refuses a picture over 5 MiB, unknown evidence, and both or neither", async () => {
    const big = Buffer.concat([png, Buffer.alloc(5 * 1_048_576)]);
    await writeFile(join(dataDir, "workspaces", "ses_w", "big.png"), big, { mode: 0o644 });
    assert.match(await refusal("view_image", { path: "big.png" }), /at most 5242880/);
    assert.match(await refusal("view_image", { evidenceId: "evi_x" }), /has no evidence/);
    await assert.rejects(use("view_image", {}));
    await assert.rejects(use("view_image", { path: "a", evidenceId: "b" }));
  });
});
