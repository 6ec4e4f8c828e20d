import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compileCallerPattern, compileUnicodePattern } from "./caller-pattern.ts";

const cases: [pattern: string, matching: string[], other: string[]][] = [
  [String.raw`^\p{L}+$`, ["Zoë"], ["p{L}", "1"]],
  [String.raw`^[A-Z]+\-\d+$`, ["AB-12"], ["AB12"]],
  [String.raw`^\p{L}+\-\d+$`, ["Zoë-1"], ["p{L}-1", "Zoë1"]],
  [String.raw`^[\w-.]+\@[\w.-]+$`, ["a.b-c@d.e"], ["a b@c"]],
  [String.raw`^[a-\d]$`, ["a", "-", "5"], ["b"]],
  [String.raw`^[\.\_\']+$`, ["._'"], ["\\"]],
  ["^{a}]$", ["{a}]"], ["a"]],
  [String.raw`^\:.\-$`, [":😀-"], [":ab-"]],
  [String.raw`^\u{1F600}\!{2}$`, ["😀!!"], ["u!!"]],
  [String.raw`^[^\-]$`, ["a", "😀"], ["-"]],
  [String.raw`^a{2}\-{1,}$`, ["aa--"], ["a{2}-"]],
  [String.raw`^(?<x>a)\-\k<x>$`, ["a-a"], ["a-b"]],
  [String.raw`\A\d{3}\Z`, ["123"], ["1234", "A123Z"]],
  [String.raw`^\w+\z`, ["ab"], ["ab!"]],
  ["^(?P<quote>['\"]).*(?P=quote)$", ["'a'"], ["'a\""]],
  ["(?i)^yes$", ["YES"], ["no"]],
  ["^[[:alpha:]_][[:alnum:]_]*$", ["a1", "_b"], ["1a", ":"]],
  ["^[^[:space:]]+$", ["ab"], ["a b"]],
];
for (const [pattern, matching, other] of cases)
  test(`${pattern} is compiled in Unicode mode`, () => {
    const compiled = compileCallerPattern(pattern);
    assert.ok(compiled?.unicode);
    for (const text of matching) assert.ok(compiled.test(text), text);
    for (const text of other) assert.ok(!compiled.test(text), text);
  });

test("a pattern that has no equivalent in Unicode mode is compiled without it", () => {
  const compiled = compileCallerPattern("^(?=a)*b$");
  assert.equal(compiled?.unicode, false);
  assert.ok(compiled.test("b"));
  assert.equal(compileUnicodePattern("^(?=a)*b$"), undefined);
});

test("escapes that only other languages know are refused", () => {
  for (const pattern of [
    String.raw`^\h+$`,
    String.raw`^\i\c*$`,
    String.raw`^\p{IsGreek}+$`,
    String.raw`\Qa.b\E`,
  ])
    assert.equal(compileCallerPattern(pattern), undefined, pattern);
  assert.ok(compileCallerPattern(String.raw`^\\h$`)?.test(String.raw`\h`));
});

test("an invalid pattern is not compiled", () => {
  for (const pattern of ["(", "[", "a**", "[b-a]", "(?<x", "+"])
    assert.equal(compileCallerPattern(pattern), undefined, pattern);
});

const piece = fc.constantFrom(
  ..."aZ19-_.,:@ {}[]()*?^$|/",
  "\\-",
  "\\_",
  "\\d",
  "\\w",
  "\\.",
  "[\\w-",
  "\\]",
  "{2}",
);

test("rewriting never changes which ASCII texts a pattern matches", () => {
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 8 }),
      fc.array(fc.constantFrom(..."aZ19-_.,:@ {}[]()/"), { maxLength: 5 }),
      (pieces, characters) => {
        const pattern = `^(?:${pieces.join("")})$`;
        let plain: RegExp;
        try {
          plain = new RegExp(pattern);
        } catch {
          return;
        }
        const text = characters.join("");
        assert.equal(compileCallerPattern(pattern)?.test(text), plain.test(text), pattern);
      },
    ),
    { numRuns: 3_000 },
  );
});
