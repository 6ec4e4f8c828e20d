import assert from "node:assert/strict";
import { test } from "node:test";
import { capBody } from "./cap-body.ts";

/** Creates a response whose body is sent in these chunks. */
const respond = (contentType: string, chunks: string[]) =>
  new Response(
    new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
        controller.close();
      },
    }),
    { headers: { "content-type": contentType } },
  );

const read = (contentType: string, chunks: string[], bytesMax = 1_000) =>
  capBody(respond(contentType, chunks), { host: "tools.example", messageBytesMax: 40, bytesMax }).text();

test("the size of a message counts from the last event, wherever chunks end", async () => {
  const event = "data: 0123456789\n\n";
  assert.equal(await read("text/event-stream", [event, event, event]), event.repeat(3));
  // Every separator is split between two chunks.
  const split = [event.slice(0, -1), ...Array(5).fill(`\n${event.slice(0, -1)}`), "\n"];
  assert.equal(await read("text/event-stream", split), event.repeat(6));
  const crlf = ["data: 0123456\r\n\r", ...Array(5).fill("\ndata: 0123456\r\n\r"), "\n"];
  assert.equal(await read("text/event-stream", crlf), crlf.join(""));
});

test("a message or a body above its limit fails with the host and the limit", async () => {
  const tooLarge = (most: number) => ({
    message: `the answer of tools.example is larger than ${most} bytes`,
  });
  await assert.rejects(read("application/json", ["x".repeat(40), "x"]), tooLarge(40));
  await assert.rejects(read("text/event-stream", ["data: ", "x".repeat(40)]), tooLarge(40));
  await assert.rejects(read("text/event-stream", ["data: 1\n\n", "data: 2\n\n"], 12), tooLarge(12));
});
