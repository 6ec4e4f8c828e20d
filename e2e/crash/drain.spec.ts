import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import { API_KEY, type CreatedSession, startService, waitUntil } from "../fixtures/service.ts";
import { haveEnded, readLog } from "./read-log.ts";

// A service receives SIGTERM while a turn runs a command that ends soon.

/** The command runs until the test writes the file `go`. */
const command = "echo ran >> ran.txt; until [ -e go ]; do sleep 0.1; done; echo done";

test("a command that ends within the grace period has a result, and its turn continues after the next start", async () => {
  const model = await startScriptedModel();
  model.respondWith(({ answersSoFar }) =>
    answersSoFar > 0
      ? { text: "Continued." }
      : { toolCalls: [{ name: "run_shell", arguments: { command } }] },
  );
  const variables = { OPENAI_BASE_URL: model.baseUrl, SHUTDOWN_GRACE_MS: "60000" };
  let service = await startService(variables);
  const session = await service.create("[shell] do it");
  const workspace = join(service.dataDir, "workspaces", session.sessionId);
  const readRan = () => readFile(join(workspace, "ran.txt"), "utf8").catch(() => "");
  await waitUntil(() => readRan().then(Boolean), "the command runs");
  const follower = await follow(service.baseUrl, session);

  const stopped = service.stop();
  // The port stays open meanwhile, so that clients and load balancers get an answer.
  await waitUntil(
    async () => (await service.call("GET", "/api/sessions")).status === 503,
    "the shutdown began",
  );
  expect(await service.read("/api/ready")).toEqual({ ok: false });
  const refused = await service.call("POST", "/api/session", { messages: [] });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  expect((await service.call("GET", "/api/health")).status).toBe(200);
  const callsBefore = model.requests.length;
  await writeFile(join(workspace, "go"), "");
  await stopped;
  expect(model.requests.length, "no step is begun").toBe(callsBefore);
  expect(await follower.ended, "the stream has an end, and the result is in it").toMatchObject({
    isComplete: true,
    text: expect.stringMatching(/event: tool\.result\ndata: [^\n]*"succeeded"/),
  });

  service = await startService(variables, { dataDir: service.dataDir });
  const events = await readLog(service, session.sessionId, haveEnded(1));
  expect(events.filter(({ kind }) => kind === "tool.result")).toMatchObject([{ state: "succeeded" }]);
  expect(events.at(-1)).toMatchObject({ kind: "run.completed", outcome: "succeeded" });
  expect(await readRan()).toBe("ran\n");
  await service.close();
  await model.close();
});

/** Follows a request's events until the stream ends. @returns a promise of what was received. */
async function follow(baseUrl: string, { streamUrl }: CreatedSession) {
  const sent = request(new URL(streamUrl, baseUrl), {
    headers: { authorization: `Bearer ${API_KEY}` },
  }).end();
  const [response] = await once(sent, "response");
  const parts: string[] = [];
  response.setEncoding("utf8").on("data", (part: string) => parts.push(part));
  const ended = new Promise((resolve) => response.once("close", resolve));
  return { ended: ended.then(() => ({ isComplete: response.complete as boolean, text: parts.join("") })) };
}
