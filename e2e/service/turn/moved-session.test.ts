import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startTestPostgres } from "#db/postgres-testing.ts";
import { createDatabase } from "#db/testing.ts";
import { SHARED_BYTES_MAX } from "#lib/evidence/evidence.ts";
import { openTestService, type TestService } from "../testing.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const MISSING =
  "its file is missing: it was lost, or it is in the data folder of another process of the service";

const call = (name: string, input: unknown) => ({ toolCalls: [{ name, arguments: input }] });

/** Makes a small picture, and one that is larger than evidence in the database. */
const DRAW = `echo ${PNG.toString("base64")} | base64 -d > small.png && { cat small.png; head -c ${SHARED_BYTES_MAX} /dev/zero; } > large.png`;

/** Plays a turn of two pictures and a file, and returns the ids of the pictures. */
async function takePictures(service: TestService) {
  service.model.respondWith(
    ({ answersSoFar }) =>
      [
        call("write_file", { path: "notes.txt", content: "notes" }),
        call("run_shell", { command: DRAW }),
        call("view_image", { path: "small.png" }),
        call("view_image", { path: "large.png" }),
      ][answersSoFar] ?? { text: "Seen." },
  );
  const { sessionId, statusUrl } = await service.create("Look at the pictures.");
  await service.completed(statusUrl);
  const [small, large] = await service.container.services.evidence.list(sessionId);
  assert.ok(small && large);
  return { sessionId, small: small.id, large: large.id };
}

/** Plays a follow-up. @returns its status, and everything that the model was sent in it. */
async function followUp(service: TestService, sessionId: string, text: string) {
  const requestsBefore = service.model.requests.length;
  const answer = await service.call("POST", `/api/sessions/${sessionId}/agent/messages`, { text });
  const { statusUrl } = (await answer.json()) as { statusUrl: string };
  await service.completed(statusUrl);
  const sent = JSON.stringify(service.model.requests.slice(requestsBefore).map(({ body }) => body));
  return { status: JSON.stringify(await service.read(statusUrl)), sent };
}

describe("a session whose turns move to a process with another data folder", () => {
  let postgres: Awaited<ReturnType<typeof startTestPostgres>>;
  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres.stop());

  it("goes on: small pictures are shown, and larger ones and files of the workspace are named as missing", async (t) => {
    const variables = {
      DATABASE_URL: await createDatabase(postgres.url, "moved"),
      DATABASE_DRIVER: "pg",
      ENCRYPTION_KEY: randomBytes(32).toString("base64"),
      SANDBOX: "unconfined",
    };
    const first = await openTestService(variables);
    const { sessionId, small, large } = await takePictures(first).finally(() => first.close());
    const second = await openTestService(variables);
    t.after(() => second.close());
    second.model.respondWith(({ answersSoFar }) =>
      answersSoFar === 0 ? call("read_file", { path: "notes.txt" }) : { text: "Read." },
    );
    const { status, sent } = await followUp(second, sessionId, "Go on.");
    assert.doesNotMatch(status, /errored/);
    assert.ok(sent.includes(PNG.toString("base64")), "the small picture is in the prompt");
    assert.ok(sent.includes(`[picture ${large} cannot be shown: ${MISSING}]`));
    assert.match(
      sent,
      /path: notes\.txt does not exist; the session's workspace was used before, but its files are not here/,
    );
    for (const { dataDir } of [first, second]) assert.ok(!sent.includes(dataDir), "no path of the machine");

    const artifact = (id: string) => second.call("GET", `/api/sessions/${sessionId}/artifacts/${id}`);
    assert.deepEqual(Buffer.from(await (await artifact(small)).arrayBuffer()), PNG);
    const missing = await artifact(large);
    assert.equal(missing.status, 404);
    assert.deepEqual(await missing.json(), {
      success: false,
      error: `the artifact exists, but ${MISSING}`,
      code: "not_found",
    });
  });
});

describe("a session whose pictures are lost or cannot be read", () => {
  let service: TestService;
  before(async () => {
    service = await openTestService({ SANDBOX: "unconfined", DATABASE_URL: "", DATABASE_DRIVER: "" });
  });
  after(() => service.close());

  for (const [what, damage] of [
    ["are gone (ENOENT)", (folder: string) => rm(folder, { recursive: true })],
    [
      "cannot be opened (ENOTDIR)",
      (folder: string) => rm(folder, { recursive: true }).then(() => writeFile(folder, "")),
    ],
  ] as const)
    it(`goes on: files that ${what}`, async () => {
      const { sessionId, small, large } = await takePictures(service);
      await damage(join(service.dataDir, "evidence", sessionId));
      service.model.respondWith(() => ({ text: "On." }));
      const { status, sent } = await followUp(service, sessionId, "Go on.");
      assert.doesNotMatch(status, /errored/);
      assert.ok(!sent.includes(service.dataDir));
      for (const id of [small, large]) {
        assert.ok(sent.includes(`[picture ${id} cannot be shown: ${MISSING}]`));
        const answer = await service.call("GET", `/api/sessions/${sessionId}/artifacts/${id}`);
        assert.equal(answer.status, 404);
      }
    });
});
