import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { after, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { createModel } from "../create-model.ts";
import { readModelFailure } from "../failure.ts";
import { ANSWER_LIMITS } from "./answer-limits.ts";
import type { ModelTools } from "./model-tool.ts";
import { streamModel } from "./stream-model.ts";

const MEBIBYTE = 1_048_576;
/** What the server sends at most. Every limit is smaller. */
const SENT_MAX = 96 * MEBIBYTE;

let answer: (response: ServerResponse) => Promise<void> | void = () => {};
let ended: Promise<number> = Promise.resolve(0);
const server = createServer((request, response) => {
  request.resume();
  ended = once(response, "close").then(() => response.socket?.bytesWritten ?? 0);
  void answer(response);
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
after(() => {
  server.closeAllConnections();
  server.close();
});
const openaiBaseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
const modelOf = (api: "responses" | "chat") =>
  createModel({ openaiBaseUrl, api, demoOrigin: "http://127.0.0.1:1" });

/** Writes pieces until the client leaves, or until `SENT_MAX` bytes are written. */
async function writeEndlessly(response: ServerResponse, piece: (index: number) => string): Promise<void> {
  function* pieces() {
    let bytes = 0;
    for (let index = 0; bytes < SENT_MAX; index++) {
      const text = piece(index);
      bytes += text.length;
      yield text;
    }
  }
  await pipeline(Readable.from(pieces()), response).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  });
}

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const chunk = (delta: object, rest: object = {}) => ({ choices: [{ index: 0, delta }], ...rest });
const textOf = (kilobytes: number) => "x".repeat(kilobytes * 1_024);
const callOf = (index: number, args: string) => ({
  tool_calls: [{ index, id: `c${index}`, type: "function", function: { name: "look", arguments: args } }],
});
const tools: ModelTools = new Map();
const request = { instructions: "Answer.", messages: [{ role: "user" as const, content: "hi" }], tools };

/** Makes a streamed call to a server that answers with pieces endlessly. @returns the failure of the call. */
async function failure(
  api: "responses" | "chat",
  piece: (index: number) => string,
  head: { status?: number; headers?: Record<string, string> } = {},
) {
  answer = (response) => {
    response.writeHead(head.status ?? 200, { "content-type": "text/event-stream", ...head.headers });
    return writeEndlessly(response, piece);
  };
  const call = streamModel(await modelOf(api), request, new AbortController().signal, () => {});
  const error = await call.then(
    () => assert.fail("the call succeeded"),
    (reason: unknown) => reason,
  );
  const sent = await ended;
  assert.ok(sent < SENT_MAX, `the connection was not ended: ${sent} bytes`);
  return readModelFailure(error);
}

const tooLarge = (reason: string) => ({
  message: `The model's answer was ended, because ${reason}.`,
  isRetryable: false,
});
const CONTENT = tooLarge("it has more than 4 MiB of text, reasoning and tool arguments");

describe("an endless answer is ended", () => {
  it("when its text is too long", async () => {
    assert.deepEqual(await failure("chat", () => event(chunk({ content: textOf(64) }))), CONTENT);
    const at = { item_id: "m", output_index: 0, content_index: 0 };
    const added = { type: "message", id: "m", role: "assistant", status: "in_progress", content: [] };
    const piece = (index: number) =>
      index === 0
        ? event({ type: "response.output_item.added", output_index: 0, item: added })
        : event({ type: "response.output_text.delta", ...at, delta: textOf(64) });
    assert.deepEqual(await failure("responses", piece), CONTENT);
  });

  it("when its reasoning is too long", async () => {
    const at = { item_id: "r", output_index: 0, summary_index: 0 };
    const piece = (index: number) =>
      index === 0
        ? event({ type: "response.output_item.added", output_index: 0, item: { type: "reasoning", id: "r" } })
        : event({ type: "response.reasoning_summary_text.delta", ...at, delta: textOf(64) });
    assert.deepEqual(await failure("responses", piece), CONTENT);
  });

  it("when the arguments of a call are too long", async () => {
    const args = (index: number) => (index === 0 ? '{"a":"' : textOf(64));
    assert.deepEqual(await failure("chat", (index) => event(chunk(callOf(0, args(index))))), CONTENT);
  });

  it("when it has too many calls", async () => {
    const piece = (index: number) => event(chunk(callOf(index, "{}")));
    assert.deepEqual(await failure("chat", piece), tooLarge("it has more than 128 tool calls"));
  });

  it("when it has too many parts", async () => {
    const piece = (index: number) => {
      const item = {
        type: "message",
        id: `m${index}`,
        role: "assistant",
        status: "in_progress",
        content: [],
      };
      return event({ type: "response.output_item.added", output_index: index, item });
    };
    assert.deepEqual(await failure("responses", piece), tooLarge("it has more than 1000 parts"));
  });

  for (const end of ["\n", "\r\n"])
    it(`when its events have no content (${JSON.stringify(end)})`, async () => {
      const filler = JSON.stringify({ choices: [], filler: textOf(512) });
      const piece = () => `data: ${filler}${end}${end}`;
      assert.deepEqual(await failure("chat", piece), tooLarge("the provider sent more than 64 MiB for it"));
    });

  it("when it consists of comments, after decompression too", async () => {
    const sent = tooLarge("the provider sent more than 64 MiB for it");
    assert.deepEqual(await failure("chat", () => `: ${textOf(512)}\n\n`), sent);
    const bomb = gzipSync(`: ${textOf(80 * 1_024)}\n\n`);
    answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
      response.end(bomb);
    };
    const call = streamModel(await modelOf("chat"), request, new AbortController().signal, () => {});
    await assert.rejects(call, (error) => {
      assert.match(readModelFailure(error).message, /larger than 8 MiB|more than 64 MiB/);
      return true;
    });
  });

  it("when one of its events has no end", async () => {
    const large = tooLarge("an event of its stream is larger than 8 MiB");
    assert.deepEqual(await failure("chat", (index) => (index ? textOf(512) : "data: ")), large);
    assert.deepEqual(await failure("responses", () => `data: ${textOf(512)}\n`), large);
  });

  it("when it is not streamed", async () => {
    answer = (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      return writeEndlessly(response, () => textOf(512));
    };
    const { model } = await modelOf("responses");
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }];
    const error = await Promise.resolve(model.doGenerate({ prompt })).catch((reason: unknown) => reason);
    assert.deepEqual(readModelFailure(error), tooLarge("it is larger than 4 MiB"));
    assert.ok((await ended) < SENT_MAX);
  });

  it("when its headers are too large", async () => {
    answer = (response) => {
      response.socket?.write(`HTTP/1.1 200 OK\r\n${`x-filler: ${textOf(1)}\r\n`.repeat(64)}\r\n`);
    };
    const call = streamModel(await modelOf("chat"), request, new AbortController().signal, () => {});
    await assert.rejects(call, (error) => {
      assert.equal(readModelFailure(error).message, "Cannot connect to API: Headers Overflow Error");
      return true;
    });
  });
});

describe("an error answer", () => {
  it("keeps its status, however long its body is", async () => {
    const headers = { "content-type": "application/json", "retry-after": "3" };
    assert.deepEqual(await failure("chat", () => textOf(64), { status: 503, headers }), {
      message: "Service Unavailable",
      isRetryable: true,
      statusCode: 503,
      retryAfterMs: 3_000,
    });
  });

  it("with an unusual status is an error too", async () => {
    const { message, isRetryable } = await failure("chat", () => textOf(64), { status: 999 });
    assert.ok(isRetryable, message);
  });
});

it("an answer just within the limits is whole", async () => {
  const text = textOf(64);
  const count = ANSWER_LIMITS.bytesMax / text.length - 1;
  answer = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let index = 0; index < count; index++) response.write(event(chunk({ content: text })));
    response.write(event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }));
    response.end("data: [DONE]\n\n");
  };
  const whole = await streamModel(await modelOf("chat"), request, new AbortController().signal, () => {});
  assert.deepEqual([whole.text.length, whole.end], [count * text.length, "complete"]);
});
