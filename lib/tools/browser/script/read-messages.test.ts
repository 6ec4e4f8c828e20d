import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { LINE_BYTES_MAX, splitMessage } from "./child/lines.ts";
import { BrokenPipe, parseMessage, readMessageLines } from "./read-messages.ts";

const CHUNK = 64 * 2 ** 10;
const streamOf = (bytes: Buffer) =>
  Readable.from(
    (function* () {
      for (let start = 0; start < bytes.byteLength; start += CHUNK)
        yield bytes.subarray(start, start + CHUNK);
    })(),
  );
async function read(bytes: Buffer): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of readMessageLines(streamOf(bytes))) lines.push(line.toString());
  return lines;
}
const tooLarge = { name: "BrokenPipe", message: "The script's process sent a message that is too large." };

test("messages of every size arrive whole, in lines of at most 1 MiB", async () => {
  const messages = [1, LINE_BYTES_MAX - 12, LINE_BYTES_MAX - 11, LINE_BYTES_MAX, 5 * 2 ** 20, 2]
    .map((size) => JSON.stringify({ text: "€".repeat(size / 3 + 1) }))
    .concat(JSON.stringify({ text: "x".repeat(31 * 2 ** 20) }));
  const lines = messages.flatMap((json) => [...splitMessage(json)]);
  for (const line of lines) {
    assert.ok(line.byteLength <= LINE_BYTES_MAX);
    assert.equal(line.indexOf(10), line.byteLength - 1);
  }
  assert.deepEqual(await read(Buffer.concat(lines)), messages);
});

test("a line beyond 1 MiB is refused, with and without its end", async () => {
  await assert.rejects(read(Buffer.alloc(LINE_BYTES_MAX, "x")), tooLarge);
  await assert.rejects(read(Buffer.concat([Buffer.alloc(LINE_BYTES_MAX, "x"), Buffer.from("\n")])), tooLarge);
});

test("a message beyond 32 MiB, and one of many small lines, is refused", async () => {
  const large = Buffer.concat([...splitMessage("x".repeat(32 * 2 ** 20 + 1))]);
  await assert.rejects(read(large), tooLarge);
  await assert.rejects(read(Buffer.from("+\n+\n+\nx\n")), tooLarge);
  await assert.rejects(read(Buffer.from(`+${"x".repeat(1000)}\nx\n`)), tooLarge);
});

test("only as much is read as the caller takes", async () => {
  let produced = 0;
  const source = Readable.from(
    (function* () {
      for (; produced < 1_000; produced++) yield Buffer.alloc(CHUNK, "{}\n");
    })(),
    { objectMode: false, highWaterMark: CHUNK },
  );
  for await (const _line of readMessageLines(source)) {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    break;
  }
  assert.ok(produced < 10, `${produced} chunks`);
});

test("what is no message, or an invalid one, is refused", () => {
  const refuse = (line: string) => {
    try {
      return parseMessage(Buffer.from(line)) && "no refusal";
    } catch (error) {
      return error instanceof BrokenPipe ? error.message : error;
    }
  };
  for (const line of ["", "x", "null", "1", "[]", "{}", '{"type":', "\u0000"])
    assert.equal(refuse(line), "The script wrote to its process's output; use console.log.", line);
  for (const message of [
    { type: "unknown" },
    { type: ["log"] },
    { type: "log" },
    { type: "log", text: ["x"] },
    { type: "devtools", message: null },
    { type: "ask", id: "1", name: "readFile", args: [] },
    { type: "ask", id: 1, name: "readFile", args: { length: 1 } },
    { type: "done", ok: "true", json: "" },
    { type: "done", ok: true, json: {}, cutFrom: null },
    { type: "done", ok: false, error: {}, line: null, column: null },
    { type: "call", id: 1, name: "x", line: "1", column: 1 },
  ])
    assert.equal(refuse(JSON.stringify(message)), "The script's process sent an invalid message.");
  assert.deepEqual(parseMessage(Buffer.from('{"type":"log","text":"a","more":1}')), {
    type: "log",
    text: "a",
  });
});
