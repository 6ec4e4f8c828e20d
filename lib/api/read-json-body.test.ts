import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readJsonBody } from "./read-json-body.ts";

const CAP = 1_000;
const read = async (body: string | Uint8Array<ArrayBuffer> | ReadableStream, cap = CAP) => {
  const init = { method: "POST", body, duplex: "half" } as RequestInit;
  const result = await readJsonBody(new Request("http://service.example", init), cap);
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

  test("may fill its cap, and not pass it, whatever its length header says", async () => {
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

  test("that is no JSON in UTF-8 is refused", async () => {
    await refused("", "body: must not be empty");
    await refused("{", "body: must be valid JSON");
    await refused('{"a":"\u0000"}', "body: must be valid JSON");
    assert.equal(await read(new Uint8Array([0x22, 0xff, 0x22])), "invalid_request body: must be UTF-8");
    assert.equal(await read(new Uint8Array([0x22, 0xc0, 0x80, 0x22])), "invalid_request body: must be UTF-8");
  });

  test("nested 200 levels deep is read, deeper is refused, and brackets within strings do not count", async () => {
    const nest = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    assert.ok(Array.isArray(await read(nest(200))));
    await refused(nest(201), "body: is nested deeper than 200 levels");
    await refused(`{"a":1,"outputSchema" : ${nest(200)}}`, "outputSchema: is nested deeper than 200 levels");
    const text = `${'[{\\"'.repeat(300)}`;
    assert.equal(await read(`"${text}"`, 10_000), '[{"'.repeat(300));
  });

  test("of more than 200,000 values is refused before anything looks at each", async () => {
    await refused(`[${"0,".repeat(200_000)}0]`, "body: holds more than 200,000 values");
    await refused(`[${"{},".repeat(100_001)}0]`, "body: holds more than 200,000 values");
    assert.equal(await read(`"${",".repeat(250_000)}"`, 1_000_000), ",".repeat(250_000));
  });

  test("that the database could not keep as it is names the place", async () => {
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
