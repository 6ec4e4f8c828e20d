import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { hashBody } from "#lib/session/canonical-json.ts";
import { contract } from "../../contract/contract.ts";
import { createBodyReader } from "./body-reader.ts";

const CAP = 1_000;
const owner = "owner a";
const bodies = createBodyReader();
const read = async (body: string | Uint8Array<ArrayBuffer> | ReadableStream, cap = CAP) => {
  const init = { method: "POST", body, duplex: "half" } as RequestInit;
  const result = await bodies.read(new Request("http://service.example", init), { maxBytes: cap, owner });
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

  test("may not be larger than the platform passes on, although its operation accepts more", async () => {
    const reader = createBodyReader({ platformBytesMax: 500 * 1_024 });
    const readLarge = async (
      bytes: number,
      headers: Record<string, string>,
      maxBytes = 8 * 1_024 * 1_024,
    ) => {
      const init = { method: "POST", body: `"${"x".repeat(bytes)}"`, headers };
      const result = await reader.read(new Request("http://service.example", init), { maxBytes, owner });
      if (!result.ok) return `${result.code} ${result.error}`;
      result.release();
      return result.ok;
    };
    const sentence =
      "payload_too_large body: must be at most 500 KiB on the platform that this service runs on";
    assert.equal(await readLarge(600_000, {}), sentence);
    assert.equal(await readLarge(10, { "content-length": "600000" }), sentence);
    assert.equal(await readLarge(500_000, {}), true);
    assert.equal(await readLarge(2_000, {}, 1_024), "payload_too_large body: must be at most 1 KiB");
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
  const send = (
    value: unknown,
    reader = bodies,
    { signal, sender = { owner } }: { signal?: AbortSignal; sender?: { owner: string | undefined } } = {},
  ) => {
    const init = { method: "POST", body: JSON.stringify(value), ...(signal && { signal }) };
    const request = new Request("http://service.example", init);
    request.headers.set("content-length", String(Buffer.byteLength(init.body)));
    return reader.read(request, { maxBytes: MAX, ...sender, operation });
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

  test("waits until others release their part of the budget, and is refused after the deadline", async () => {
    const reader = createBodyReader({ budgetBytes: 1_500_000, waitMs: 60_000 });
    const body = session(long);
    const [first, second] = await Promise.all([send(body, reader), send(body, reader)]);
    assert.ok(first.ok && second.ok);
    const disconnect = new AbortController();
    const disconnected = send(body, reader, { signal: disconnect.signal });
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

  test("that stalls takes only what has arrived from the budget, so that others are read", async () => {
    const reader = createBodyReader({ budgetBytes: 2_000_000, waitMs: 1, graceMs: 60_000 });
    const stalled = await Promise.all(Array.from({ length: 4 }, () => stall(reader, 100_000)));
    const read = await send(session(long), reader);
    assert.ok(read.ok);
    read.release();
    await endStalled(stalled);
  });

  test("of one owner leaves a part of the budget to other owners, and to requests without a credential", async () => {
    const reader = createBodyReader({
      budgetBytes: 3_000_000,
      ownerBytes: 1_500_000,
      waitMs: 1,
      graceMs: 60_000,
    });
    const stalled = await Promise.all(Array.from({ length: 2 }, () => stall(reader, 450_000)));
    const own = await send(session(long), reader);
    assert.ok(!own.ok && own.code === "unavailable");
    for (const other of ["owner b", undefined]) {
      const read = await send(session(long), reader, { sender: { owner: other } });
      assert.ok(read.ok, other);
      read.release();
    }
    await endStalled(stalled);
  });

  test("waits for its owner's other bodies without delaying another owner's", async () => {
    const reader = createBodyReader({ budgetBytes: 3_000_000, ownerBytes: 1_000_000, waitMs: 60_000 });
    const first = await send(session(long), reader);
    assert.ok(first.ok);
    const waiting = send(session(long), reader);
    const other = await send(session(long), reader, { sender: { owner: "owner b" } });
    assert.ok(other.ok);
    other.release();
    first.release();
    assert.ok((await waiting).ok);
  });

  test("is completed although several that have arrived in part fill the budget together", async () => {
    const reader = createBodyReader({ budgetBytes: 1_000_000, waitMs: 60_000 });
    const arriving = await Promise.all(Array.from({ length: 3 }, () => stall(reader, 200_000)));
    const read = arriving.map(async ({ reading, finish }) => {
      finish();
      const result = await reading;
      assert.ok(result.ok);
      result.release();
    });
    await Promise.all(read);
  });

  test("that arrives too slowly is refused with 408, also if it is small", async () => {
    const reader = createBodyReader({ graceMs: 50 });
    for (const bytes of [1, 1_000]) {
      const { reading, end } = await stall(reader, bytes);
      assert.deepEqual(await reading, {
        ok: false,
        code: "request_timeout",
        error: "body: arrives too slowly; send at least 16 KiB per second",
        headers: { Connection: "close" },
      });
      end();
    }
  });

  test("an owner's bodies beyond the rate wait, and those of other owners do not", async () => {
    const reader = createBodyReader({ ownerBytesPerS: 200_000, paceWaitMaxMs: 60_000 });
    const body = session("é".repeat(40_000));
    const disconnect = new AbortController();
    let answered = 0;
    const bodies = Array.from({ length: 100 }, async () => {
      const read = await send(body, reader, { signal: disconnect.signal }).catch(() => undefined);
      if (read?.ok) read.release();
      answered += 1;
    });
    const other = await send(body, reader, { sender: { owner: "owner b" } });
    assert.ok(other.ok);
    other.release();
    // All hundred take 40 s at this rate.
    assert.ok(answered < 100);
    const anonymous = await send(body, reader, { sender: { owner: undefined } });
    assert.ok(anonymous.ok);
    anonymous.release();
    assert.ok(answered < 100);
    disconnect.abort();
    await Promise.all(bodies);
  });

  /** Sends the first bytes of a body of 700 KB, and waits until the reader has taken them. */
  async function stall(reader: typeof bodies, bytes: number) {
    const text = new TextEncoder().encode(JSON.stringify(session("x".repeat(700_000))));
    const taken = Promise.withResolvers<void>();
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
    const end = () => controller?.error(new Error("the client disconnected"));
    const body = new ReadableStream<Uint8Array>({
      start(opened) {
        controller = opened;
        opened.enqueue(text.slice(0, bytes));
      },
      // Called when the reader asks for more than the first bytes.
      pull: () => taken.resolve(),
    });
    const request = new Request("http://service.example", {
      method: "POST",
      body,
      duplex: "half",
    } as RequestInit);
    request.headers.set("content-length", String(text.byteLength));
    const reading = reader.read(request, { maxBytes: MAX, owner, operation });
    await taken.promise;
    const finish = () => {
      for (let at = bytes; at < text.byteLength; at += 50_000)
        controller?.enqueue(text.slice(at, at + 50_000));
      controller?.close();
    };
    return { reading, finish, end };
  }

  async function endStalled(stalled: Awaited<ReturnType<typeof stall>>[]): Promise<void> {
    for (const { end, reading } of stalled) {
      end();
      await assert.rejects(reading);
    }
  }
});
