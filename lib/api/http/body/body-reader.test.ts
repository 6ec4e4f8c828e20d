import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hashBody } from "#lib/session/canonical-json.ts";
import { contract } from "../../contract/contract.ts";
import { createBodyReader } from "./body-reader.ts";

const CAP = 1_000;
const bodies = createBodyReader();
const read = async (body: string | Uint8Array<ArrayBuffer> | ReadableStream, cap = CAP) => {
  const init = { method: "POST", body, duplex: "half" } as RequestInit;
  const result = await bodies.read(new Request("http://service.example", init), cap);
  return result.ok ? result.value : `${result.code} ${result.error}`;
};
const refused = async (body: string, sentence: string) =>
  assert.equal(await read(body, 10_000_000), `invalid_request ${sentence}`);

describe("a JSON body", () => {
  test("is read as it was sent", async () => {
    const value = { a: [1, -0.5, 1e308, null, true], ключ: "😀\u2028", b: { constructor: 1 } };
    assert.deepEqual(await read(JSON.stringify(value)), value);
    assert.equal(await read(" 5 "), 5);
    assert.deepEqual(await read('\ufeff{"a":"\\ud83d\\ude00"}'), { a: "😀" });
  });

  test("may be as large as its cap but not larger, even without a length header", async () => {
    assert.equal(await read(`"${"x".repeat(CAP - 2)}"`), "x".repeat(CAP - 2));
    assert.match(String(await read(`"${"x".repeat(CAP - 1)}"`)), /^payload_too_large body: must be at most /);
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(100).fill(0x20));
      },
    });
    assert.match(String(await read(endless)), /^payload_too_large/);
    assert.ok(pulled < 20, "reading stopped at the cap");
  });

  test("that is not JSON in UTF-8 is refused", async () => {
    await refused("", "body: must not be empty");
    await refused("{", "body: must be valid JSON");
    await refused('{"a":"\u0000"}', "body: must be valid JSON");
    assert.equal(await read(new Uint8Array([0x22, 0xff, 0x22])), "invalid_request body: must be UTF-8");
    assert.equal(await read(new Uint8Array([0x22, 0xc0, 0x80, 0x22])), "invalid_request body: must be UTF-8");
  });

  test("may be nested 200 levels deep but not deeper; brackets in strings do not count", async () => {
    const nest = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    assert.ok(Array.isArray(await read(nest(200))));
    await refused(nest(201), "body: is nested deeper than 200 levels");
    await refused(`{"a":1,"outputSchema" : ${nest(200)}}`, "outputSchema: is nested deeper than 200 levels");
    const text = `${'[{\\"'.repeat(300)}`;
    assert.equal(await read(`"${text}"`, 10_000), '[{"'.repeat(300));
  });

  test("of more than 200,000 values is refused before it is parsed", async () => {
    await refused(`[${"0,".repeat(200_000)}0]`, "body: holds more than 200,000 values");
    await refused(`[${"{},".repeat(100_001)}0]`, "body: holds more than 200,000 values");
    assert.equal(await read(`"${",".repeat(250_000)}"`, 1_000_000), ",".repeat(250_000));
  });

  test("with a value that the database cannot store unchanged is refused, and the error names its path", async () => {
    await refused('{"a":{"b":["x","\\u0000"]}}', "a.b[1]: must not contain NUL characters");
    await refused(
      '{"a":{"\\ud800":1}}',
      'a["\ufffd"]: must be well-formed Unicode (it holds a lone surrogate)',
    );
    await refused('"\\udc00"', "body: must be well-formed Unicode (it holds a lone surrogate)");
    await refused('[{"__proto__":{"a":1}}]', "[0].__proto__: is not an allowed key");
    await refused('{"a":[1e400]}', "a[0]: is too large a number");
    await refused(`{"a":-${"9".repeat(400)}}`, "a: is too large a number");
    await refused(`{"a":1${"0".repeat(300)}e9}`, "a: is too large a number");
  });
});

describe("a large body", () => {
  const operation = contract.createSession;
  const MAX = operation.bodyBytesMax;
  const session = (text: string, more: object = {}) => ({
    messages: [{ role: "user", parts: [{ type: "text", text }] }],
    ...more,
  });
  const send = (value: unknown, reader = bodies, signal?: AbortSignal) => {
    const init = { method: "POST", body: JSON.stringify(value), ...(signal && { signal }) };
    const request = new Request("http://service.example", init);
    request.headers.set("content-length", String(Buffer.byteLength(init.body)));
    return reader.read(request, MAX, operation);
  };
  const long = "é".repeat(300_000);

  test("is validated and hashed like a small one", async () => {
    for (const text of ["short", long]) {
      const body = session(text, {
        metadata: { b: 1, a: [null] },
        callback: { url: "https://a.example", events: ["run.completed", "run.started"] },
      });
      const read = await send(body);
      assert.ok(read.ok);
      assert.deepEqual(read.value, operation.body.parse(body));
      assert.equal(read.hash(), hashBody(body));
      read.release();
    }
    for (const [body, sentence] of [
      [session(long, { source: "ap" }), /^source: must be one of/],
      [session(long, { metadata: { text: "\0" } }), /^metadata\.text: must not contain NUL/],
      [[], /^body: must be an object/],
    ] as const) {
      const read = await send(Array.isArray(body) ? [long] : body);
      assert.ok(!read.ok);
      assert.match(read.error, sentence);
    }
  });

  test("leaves the event loop free while it is checked", async () => {
    // If the 190,000 values were checked on the main thread, they would block the event loop.
    const list = Array.from({ length: 190_000 }, (_, index) => `value ${index} ${"x".repeat(20)}`);
    const reading = send(session("Hello", { metadata: { list } }));
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    count();
    const read = await reading;
    isDone = true;
    assert.ok(read.ok);
    assert.ok(turns > 100, `${turns} turns`);
  });

  test("waits in order until others release their share of the budget, and is refused after the deadline", async () => {
    const reader = createBodyReader({ budgetBytes: 1_500_000, waitMs: 60_000 });
    const body = session(long);
    const [first, second] = await Promise.all([send(body, reader), send(body, reader)]);
    assert.ok(first.ok && second.ok);
    const disconnect = new AbortController();
    const disconnected = send(body, reader, disconnect.signal);
    const third = send(body, reader);
    disconnect.abort();
    assert.ok(!(await disconnected.catch(() => ({ ok: false }))).ok);
    first.release();
    first.release();
    assert.ok((await third).ok);

    const small = await send(session("short"), reader);
    assert.ok(small.ok, "small bodies do not use the budget");
    const impatient = createBodyReader({ budgetBytes: 1_000_000, waitMs: 1 });
    const admitted = await send(body, impatient);
    assert.ok(admitted.ok);
    const refused = await send(body, impatient);
    assert.deepEqual(refused, {
      ok: false,
      code: "unavailable",
      error: "too many large bodies are being read; try again",
      headers: { "Retry-After": "5" },
    });
    admitted.release();
    assert.ok((await send(body, impatient)).ok);
  });

  test("that is invalid or too large releases its share of the budget", async () => {
    const reader = createBodyReader({ budgetBytes: 700_000, waitMs: 60_000 });
    for (const body of [session(long, { source: 1 }), session("x".repeat(MAX))]) {
      assert.ok(!(await send(body, reader)).ok);
      const next = await send(session(long), reader);
      assert.ok(next.ok);
      next.release();
    }
  });
});
