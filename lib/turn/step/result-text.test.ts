import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cutResult, cutStored } from "./result-text.ts";

describe("the text of a tool result for the model", () => {
  it("is whole up to 12,000 characters", () => {
    const text = "a".repeat(12_000);
    assert.equal(cutResult(text, "res_1"), text);
  });

  it("is cut to its beginning and end when longer, and says how to read on", () => {
    const shown = cutResult(`${"a".repeat(9_000)}${"b".repeat(5_000)}${"c".repeat(2_000)}`, "res_1");
    assert.ok(shown.startsWith("a".repeat(9_000)) && shown.endsWith("c".repeat(2_000)));
    assert.ok(!shown.includes("b"));
    assert.match(shown, /5000 of 16000 characters left out; .*resultId res_1, offset 9000/);
  });

  it("is not cut in the middle of a character", () => {
    const shown = cutResult("x".repeat(8_999) + "😀".repeat(5_000), "res_1");
    assert.ok(shown.isWellFormed());
  });

  it("counts characters as read_tool_result does, which reads on where the beginning ends", () => {
    const shown = cutResult("😀".repeat(8_000), "res_1");
    assert.match(
      shown,
      /^(😀){4500}\n\n\[… 2500 of 8000 characters left out; .*offset 4500 …\]\n\n(😀){1000}$/u,
    );
  });
});

describe("the text of a tool result as it is stored", () => {
  it("is whole up to 4 MiB, and then ends with a note", () => {
    const most = 4 * 1_048_576;
    const whole = "a".repeat(most);
    assert.equal(cutStored(whole), whole);
    const cut = cutStored(`${"a".repeat(most - 1)}😀${"b".repeat(1_000)}`);
    assert.equal(cut.slice(most - 1), "\n\n[… 1002 further characters of this result were not stored …]");
    assert.ok(cut.isWellFormed());
  });
});
