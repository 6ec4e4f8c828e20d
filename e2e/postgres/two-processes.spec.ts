import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { Client } from "pg";
import { WebSocket } from "ws";
import { startTestPostgres, type TestPostgres } from "#db/postgres-testing.ts";
import { followUntil } from "../api/read-stream.ts";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import type { ScriptedModel } from "../fixtures/scripted-model/types.ts";
import { API_KEY, type RunningService, startService, waitUntil } from "../fixtures/service.ts";

test.describe.configure({ mode: "serial" });

let postgres: TestPostgres;
let model: ScriptedModel;
let first: RunningService;
let second: RunningService;

test.beforeAll(async () => {
  postgres = await startTestPostgres();
  model = await startScriptedModel({ script: { otherwise: { text: "Done." } } });
  // Both processes start at the same time on an empty database. One process migrates the database while the other
  // waits.
  [first, second] = await Promise.all([start(), start()]);
});
test.afterAll(async () => {
  await Promise.all([first?.close(), second?.close()]);
  await model?.close();
  await postgres?.stop();
});

const start = () => startService({ DATABASE_URL: postgres.url, OPENAI_BASE_URL: model.baseUrl });

/** Reads the stored events of a session from the database, in order. */
async function readLog(sessionId: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  try {
    const { rows } = await client.query("select body from events where session_id = $1 order by seq", [
      sessionId,
    ]);
    return rows.map(({ body }) => JSON.parse(body));
  } finally {
    await client.end();
  }
}

test("a session's turns play one at a time and in order when its messages arrive at different processes", async () => {
  model.respondWith(({ userText, answersSoFar }) => {
    if (!userText.startsWith("follow-up")) return undefined;
    return answersSoFar === 0
      ? { toolCalls: [{ name: "write_file", arguments: { path: "a.txt", content: userText } }] }
      : { text: `Answer to ${userText}` };
  });
  const { sessionId, statusUrl } = await first.create("The first message");
  const path = `/api/sessions/${sessionId}/agent/messages`;
  const accepted: string[] = [];
  for (let index = 0; index < 8; index++) {
    const answer = await (index % 2 ? first : second).call("POST", path, { text: `follow-up ${index}` });
    expect(answer.status).toBe(202);
    accepted.push(((await answer.json()) as { requestId: string }).requestId);
  }
  const isIdle = async () =>
    (await second.read(`/api/sessions/${sessionId}/agent/status`)).turnState === "idle";
  await waitUntil(isIdle, "all turns have ended");
  await first.completed(statusUrl);

  const events = await readLog(sessionId);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const lifecycle = events.filter(({ kind }) => kind === "run.started" || kind === "run.completed");
  expect(lifecycle).toHaveLength(2 * 9);
  for (let at = 0; at < lifecycle.length; at += 2) {
    expect(lifecycle[at]?.kind).toBe("run.started");
    expect([lifecycle[at + 1]?.kind, lifecycle[at + 1]?.runId]).toEqual([
      "run.completed",
      lifecycle[at]?.runId,
    ]);
  }
  const order = lifecycle.filter(({ kind }) => kind === "run.started").map(({ requestId }) => requestId);
  expect(order.slice(1)).toEqual(accepted);
});

test("an event stream of one process delivers the deltas of a turn that the other process plays", async () => {
  const gate = Promise.withResolvers<void>();
  const textChunks = ["It ", "is ", "written ", "elsewhere."];
  model.enqueue({ textChunks, chunkDelayMs: 20, hold: gate.promise });
  const session = await first.create("Write slowly");
  const response = await second.call("GET", session.streamUrl);
  const events = followUntil(response, () => false);
  await model.waitForRequest(({ userText }) => userText === "Write slowly");
  gate.resolve();
  const all = await events;
  expect(all[0]?.event).toBe("run.started");
  expect(all.at(-1)?.event).toBe("run.completed");
  const pieces = all.filter(({ event }) => event === "message.delta").map(({ data }) => String(data.text));
  expect(pieces.join("")).toBe(textChunks.join(""));
});

test("a socket of one process that opens during a message of the other gets its beginning, then the rest", async () => {
  const gate = Promise.withResolvers<void>();
  model.enqueue({ textChunks: ["The beginning", " and the end."], hold: gate.promise });
  const session = await first.create("Write and wait");
  await model.waitForRequest(({ userText }) => userText === "Write and wait");
  const url = new URL(
    `/api/sessions/${session.sessionId}/live?after=0`,
    second.baseUrl.replace("http", "ws"),
  );
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${API_KEY}` } });
  const frames: { type: string; seq?: number; data: Record<string, unknown> }[] = [];
  socket.on("message", (data, isBinary) => {
    if (!isBinary) frames.push(JSON.parse(String(data)));
  });
  const written = () =>
    frames
      .filter(({ type }) => type === "message.delta")
      .reduce((text, { data }) => text.slice(0, Number(data.offset)) + String(data.text), "");
  await waitUntil(() => written() === "The beginning and the end.", "the whole message has arrived");
  gate.resolve();
  await waitUntil(() => frames.some(({ type }) => type === "run.completed"), "the run has ended");
  socket.close();
  // The first frame is `ready`, which is not an event of the log.
  const seqs = frames.slice(1).flatMap(({ seq }) => seq ?? []);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
});

test("a stop that one process receives ends the turn of the other process", async () => {
  model.enqueue({ text: "Never sent", hold: "once", holdAt: "start" });
  const session = await first.create("Think without end");
  await model.waitForRequest(({ userText }) => userText === "Think without end");
  const answer = await second.call("POST", `/api/sessions/${session.sessionId}/agent/cancel`);
  expect(answer.status).toBe(202);
  await second.completed(session.statusUrl);
  const end = (await readLog(session.sessionId)).at(-1);
  expect([end?.kind, end?.outcome]).toEqual(["run.completed", "cancelled"]);
});

test("deleting a session at one process removes its turn, browser and files at the other", async () => {
  const words = "Write it down, look, and wait";
  model.respondWith(({ userText, answersSoFar }) => {
    if (userText !== words) return undefined;
    if (answersSoFar === 0)
      return { toolCalls: [{ name: "write_file", arguments: { path: "a.txt", content: "a" } }] };
    if (answersSoFar === 1) return { toolCalls: [{ name: "screenshot", arguments: {} }] };
    return { text: "On and on.", hold: "once" };
  });
  const created = await first.create(words, { targetUrl: `${first.baseUrl}/demo` });
  const { sessionId } = created;
  const request = await model.waitForRequest(
    ({ userText, answersSoFar }) => userText === words && answersSoFar === 2,
    30_000,
  );
  const folders = () =>
    [first, second].flatMap(({ dataDir }) =>
      ["workspaces", "evidence"].map((name) => join(dataDir, name, sessionId)).filter(existsSync),
    );
  // The picture is small, so it is in the database, where both processes can read it.
  expect(folders()).toHaveLength(1);
  const player = folders()[0]?.startsWith(first.dataDir) ? first : second;
  const other = player === first ? second : first;
  const socket = new WebSocket(`${player.baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  const closed = new Promise((done) => socket.once("close", done));
  await once(socket, "open");
  const shown = Promise.withResolvers<void>();
  const stream = followUntil(await player.call("GET", created.streamUrl), (events) => {
    if (events.some(({ event }) => event === "tool.result")) shown.resolve();
    return false;
  });
  // Otherwise the session could be deleted before the stream has read its events.
  await Promise.race([shown.promise, stream]);

  const answer = await other.call("DELETE", `/api/sessions/${sessionId}`);
  expect((await answer.json()).deleted).toMatchObject({
    sessions: 1,
    workspaces: 1,
    browsers: 1,
    evidence: 1,
  });
  expect(await closed).toBe(4004);
  expect((await stream).map(({ event }) => event)).toContain("tool.result");
  await waitUntil(() => request.outcome === "client-left", "the model call was aborted");
  await waitUntil(() => folders().length === 0, "the files have gone");
  for (const each of [first, second])
    expect((await each.call("GET", `/api/sessions/${sessionId}`)).status).toBe(404);
});

test("both processes continue after a restart of Postgres and receive each other's events again", async () => {
  await postgres.restart("immediate");
  for (const [player, follower] of [
    [first, second],
    [second, first],
  ] as const) {
    type Readiness = { checks: { database: { ok: boolean } } };
    const isBack = async () => (await player.read<Readiness>("/api/ready")).checks.database.ok;
    await waitUntil(isBack, "the database is back");
    const session = await player.create("After the restart");
    const events = await followUntil(await follower.call("GET", session.streamUrl), () => false);
    expect(events.at(-1)?.event).toBe("run.completed");
  }
});

test("a process continues the turn of a killed process, and replaces its browser at the next use", async () => {
  const demo = `${second.baseUrl}/demo/index.html`;
  const browsing = await first.create("Look at a page");
  await first.completed(browsing.statusUrl);
  const path = `/api/sessions/${browsing.sessionId}/browser`;
  const readBrowser = () => second.read<{ status: string; lastNavigatedUrl: string | null }>(path);
  expect((await first.call("POST", path, { url: demo })).status).toBe(202);
  await waitUntil(async () => (await readBrowser()).lastNavigatedUrl === demo, "the page is reached");
  expect((await readBrowser()).status).toBe("ready");

  model.enqueue({ text: "Cut off by the kill.", hold: "once" });
  const playing = await first.create("Play on");
  await model.waitForRequest(({ userText }) => userText === "Play on");
  model.respondWith(() => ({ text: "Played on." }));
  await first.kill();

  await waitUntil(async () => (await readBrowser()).status === "expired", "its browser reads as expired");
  expect((await second.call("POST", path, { url: demo })).status).toBe(202);
  await waitUntil(async () => (await readBrowser()).status === "ready", "another browser is up");
  await second.completed(playing.statusUrl);
  const ends = (await readLog(playing.sessionId)).filter(({ kind }) => kind === "run.completed");
  expect(ends).toMatchObject([{ outcome: "succeeded" }]);
});
