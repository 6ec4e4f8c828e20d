import assert from "node:assert/strict";
import { test } from "node:test";
import { checkLanguage } from "./check-language.mjs";

const check = (...lines: string[]) => checkLanguage("lib/file.ts", lines.join("\n"));

test("an avoided word in a comment is reported with its line and a replacement", () => {
  const found = check("const a = 1;", "/** Closes the file.", " * Whoever opens it again waits. */");
  assert.deepEqual(found, [
    'lib/file.ts:3: "Whoever"; write: the caller, the executor, the client: name the actor',
  ]);
});

test("a phrase is found across two lines of a comment", () => {
  assert.match(check("// The run stands", "// in the queue.").join(), /^lib\/file\.ts:1: "stands\s+\/\/ in"/);
  assert.deepEqual(check("// The run stands", "run();", "// in the queue."), []);
});

test("the texts of the product are read, and names of constants are not", () => {
  assert.equal(check('const text = "Nobody waits.";').length, 1);
  assert.deepEqual(check("const NOBODY = 65_534;"), []);
});

test("of tests, trailing comments and names of tests are read, and other code is not", () => {
  const checkTest = (...lines: string[]) => checkLanguage("lib/file.test.ts", lines.join("\n"));
  assert.equal(checkTest("run(); // Runs it anew.").length, 1);
  assert.equal(checkTest('test("nobody waits", () => {});', 'test.skip("told of it", run);').length, 2);
  assert.deepEqual(checkTest('const text = "nobody";', "const nobody = undefined;"), []);
});

test("a document is read as a whole", () => {
  assert.match(
    checkLanguage("lib/docs/a.md", "One.\n\nIt stands\nbehind it.").join(),
    /^lib\/docs\/a\.md:3: /,
  );
});
