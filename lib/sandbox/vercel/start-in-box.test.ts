import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { WebSocket } from "ws";
import {
  startVercelSandbox,
  type VercelSandboxStandIn,
} from "#e2e/fixtures/vercel-sandbox/start-vercel-sandbox.ts";
import { waitUntil } from "#e2e/fixtures/wait-until.ts";
import { BROWSER_HOST_PORT, createVercelBoxes } from "./create-vercel-boxes.ts";
import { isRunning, readEndpoint, startInBox } from "./start-in-box.ts";
import type { OpenBox } from "./vercel-box.ts";

const WS = join(import.meta.dirname, "../../../node_modules/ws");
/**
 * A program that answers over WebSockets to those who have its token: its process id, and the id of a child process that
 * outlives it. "end" ends it.
 */
const PROGRAM = `
const { spawn } = require("node:child_process");
const { createServer } = require("node:http");
const { WebSocketServer } = require(${JSON.stringify(WS)});
const child = spawn("sleep", ["300"], { detached: true, stdio: "ignore" });
const sockets = new WebSocketServer({ noServer: true });
const server = createServer((request, response) => response.end("up"));
server.on("upgrade", (request, socket, head) => {
  if (request.headers.authorization !== "Bearer " + process.env.TOKEN) return socket.end("HTTP/1.1 401 Unauthorized\\r\\n\\r\\n");
  sockets.handleUpgrade(request, socket, head, (ws) => {
    ws.send(String(process.pid));
    ws.on("message", () => { console.log("asked to end"); process.exit(3); });
  });
});
server.listen(process.env.PORT, "0.0.0.0");`;

let standIn: VercelSandboxStandIn;
before(async () => {
  standIn = await startVercelSandbox();
});
after(() => standIn.close());

const start = (box: OpenBox, token: string) =>
  startInBox(box, {
    command: process.execPath,
    args: ["-e", PROGRAM],
    env: { TOKEN: token },
    port: BROWSER_HOST_PORT,
  });

const connect = (endpoint: string, token: string) =>
  new WebSocket(endpoint.replace("http", "ws"), { headers: { authorization: `Bearer ${token}` } });

/** Connects with a token. @returns the process id of the program that answers. */
async function readPid(endpoint: string, token: string): Promise<string> {
  const socket = connect(endpoint, token);
  try {
    return await new Promise((done, fail) => {
      socket.once("message", (data) => done(String(data)));
      socket.once("error", fail);
    });
  } finally {
    socket.terminate();
  }
}

const isUp = (endpoint: string) => fetch(endpoint).then(({ ok }) => ok);

describe("a program in a box", () => {
  it("is started once, also when the SDK repeats the start, and is reached with its token only", async () => {
    const boxes = createVercelBoxes({ connection: standIn.connection });
    const { box } = await boxes.open("ses_once");
    assert.equal(await isRunning(boxes, "ses_once", BROWSER_HOST_PORT), false);
    standIn.failNext({ method: "POST", path: /\/cmd$/, status: 502, isApplied: true });
    const endpoint = await start(box, "secret");
    await waitUntil(() => isUp(endpoint), "the program listens");
    const starts = () => standIn.commandsOf("agent-ses-once").filter(({ env }) => env.TOKEN !== undefined);
    assert.equal(starts().length, 2);
    const pid = await readPid(endpoint, "secret");
    assert.equal(await start(box, "other"), endpoint);
    await waitUntil(
      () => standIn.exitCodesOf("agent-ses-once").filter((code) => code === 75).length === 2,
      "the other starts are refused",
    );
    assert.equal(await readPid(endpoint, "secret"), pid);
    await assert.rejects(readPid(endpoint, "other"), /401/);
    assert.equal(await isRunning(boxes, "ses_once", BROWSER_HOST_PORT), true);
    assert.deepEqual(standIn.readBox("agent-ses-once").creation.env, {}, "no secret is permanent");
  });

  it("that has ended is started again, although its child process lives, and leaves its last output", async () => {
    const boxes = createVercelBoxes({ connection: standIn.connection });
    const { box } = await boxes.open("ses_ended");
    const endpoint = await start(box, "one");
    await waitUntil(() => isUp(endpoint), "the program listens");
    const socket = connect(endpoint, "one");
    const closed = new Promise((done) => socket.once("close", done));
    socket.once("open", () => socket.send("end"));
    await closed;
    await waitUntil(
      async () => !(await isRunning(boxes, "ses_ended", BROWSER_HOST_PORT)),
      "the program does not run",
    );
    const log = { path: `${box.cwd}/.programs/port-${BROWSER_HOST_PORT}.log` };
    await waitUntil(
      async () => String(await box.readFileToBuffer(log)) === "asked to end\n",
      "its output is kept",
    );
    await start(box, "two");
    await waitUntil(() => isUp(endpoint), "it listens again");
    await assert.rejects(readPid(endpoint, "one"), /401/);
    await readPid(endpoint, "two");
  });

  it("ends with its box; asking for it does not resume the box, and the hook starts it again", async () => {
    const endpoints: string[] = [];
    const boxes = createVercelBoxes({
      connection: standIn.connection,
      onResume: async (_, resumed) => void endpoints.push(readEndpoint(resumed, BROWSER_HOST_PORT)),
    });
    const { box } = await boxes.open("ses_resumed");
    const endpoint = await start(box, "one");
    await waitUntil(() => isUp(endpoint), "the program listens");
    await standIn.expire("agent-ses-resumed");
    assert.equal(await isRunning(boxes, "ses_resumed", BROWSER_HOST_PORT), false);
    assert.equal(await isRunning(boxes, "ses_none", BROWSER_HOST_PORT), false);
    assert.equal(standIn.readBox("agent-ses-resumed").status, "stopped");
    const again = await start(box, "two");
    assert.deepEqual(endpoints, [again]);
    await waitUntil(() => isUp(again), "it listens again");
    await readPid(again, "two");
    assert.throws(() => readEndpoint(box, 4_000), /no public URL for port 4000/);
  });

  it("is reported as not running when its box stops during the question", async () => {
    const boxes = createVercelBoxes({ connection: standIn.connection });
    await boxes.open("ses_stopping");
    for (const [status, code] of [
      [410, "sandbox_stopped"],
      [422, "sandbox_stopping"],
      [422, "sandbox_snapshotting"],
    ] as const) {
      standIn.failNext({ method: "POST", path: /\/cmd$/, status, code });
      assert.equal(await isRunning(boxes, "ses_stopping", BROWSER_HOST_PORT), false);
    }
    standIn.failNext({ method: "POST", path: /\/cmd$/, status: 403, code: "forbidden" });
    await assert.rejects(isRunning(boxes, "ses_stopping", BROWSER_HOST_PORT), /403/);
  });
});
