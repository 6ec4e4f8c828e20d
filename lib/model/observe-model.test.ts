import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, beforeEach, describe, test } from "node:test";
import { startScriptedModel } from "#e2e/fixtures/scripted-model/start-scripted-model.ts";
import { streamModel } from "./calls/stream-model.ts";
import { createModel } from "./create-model.ts";
import { observeModel } from "./observe-model.ts";

const scripted = await startScriptedModel({});
after(() => scripted.close());

/** The HTTP status of the model server's answers. With status 200, the server drops the connection in mid-stream. */
let status = 200;
const server = createServer((request, response) => {
  request.resume();
  if (status !== 200)
    return void response.writeHead(status).end(JSON.stringify({ error: { message: "secret" } }));
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(
    'data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
  );
  setImmediate(() => response.destroy());
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
after(() => server.close());
const brokenUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;

let clock = 0;
beforeEach(() => {
  clock = Date.UTC(2026, 0, 1);
});

async function observe(baseUrl: string) {
  const access = await createModel({
    openaiBaseUrl: baseUrl,
    agentModel: "m",
    api: "chat",
    demoOrigin: "http://localhost",
  });
  const { model, readHealth } = observeModel(access, () => clock);
  return {
    readHealth,
    label: access.label,
    async stream(abortSignal: AbortSignal = new AbortController().signal) {
      const messages = [{ role: "user" as const, content: "Hello" }];
      // The tests read the failure from `readHealth`.
      await streamModel(model, { instructions: "Answer.", messages }, abortSignal, () => {}).catch(() => {});
    },
  };
}

describe("the health of the model", () => {
  test("is good before the first call, and makes no call", async () => {
    const before = scripted.requests.length;
    const observed = await observe(scripted.baseUrl);
    assert.deepEqual(observed.readHealth(), { ok: true, detail: `${observed.label}; not called yet` });
    assert.equal(scripted.requests.length, before);
  });

  test("shows when the last call succeeded", async () => {
    const observed = await observe(scripted.baseUrl);
    scripted.enqueue({ text: "Hello." });
    await observed.stream();
    assert.deepEqual(observed.readHealth(), {
      ok: true,
      detail: `${observed.label}; last call succeeded at 2026-01-01T00:00:00.000Z`,
    });
  });

  test("is bad for ten minutes after two failed calls, and does not contain the provider's message", async () => {
    status = 500;
    const observed = await observe(brokenUrl);
    await observed.stream();
    assert.equal(observed.readHealth().ok, true);
    clock += 1_000;
    await observed.stream();
    assert.deepEqual(observed.readHealth(), {
      ok: false,
      detail: `${observed.label}; the last 2 calls failed, most recently at 2026-01-01T00:00:01.000Z (HTTP 500)`,
    });
    clock += 10 * 60_000 + 1;
    assert.equal(observed.readHealth().ok, true);
    assert.match(observed.readHealth().detail, /the last 2 calls failed/);
  });

  test("counts an unreachable server and a dropped connection", async () => {
    const gone = await observe("http://127.0.0.1:1/v1");
    await gone.stream();
    await gone.stream();
    assert.match(gone.readHealth().detail, /the last 2 calls failed, .* \(no usable answer\)$/);
    status = 200;
    const breaking = await observe(brokenUrl);
    await breaking.stream();
    await breaking.stream();
    assert.equal(breaking.readHealth().ok, false);
  });

  test("does not count stopped calls and calls that the server refused for their content", async () => {
    const observed = await observe(brokenUrl);
    status = 400;
    await observed.stream();
    status = 200;
    await observed.stream(AbortSignal.abort());
    assert.match(observed.readHealth().detail, /not called yet$/);
  });
});
