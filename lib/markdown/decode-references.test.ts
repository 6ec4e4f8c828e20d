import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeReferences } from "./decode-references.ts";

test("character references become characters", () =>
  assert.equal(decodeReferences("a &amp; b &lt;i&gt; &#8212; &#x2014; &hellip;"), "a & b <i> — — …"));

test("what is no reference stays, and an invalid code becomes the replacement character", () =>
  assert.equal(decodeReferences("&nothing; & &amp &#0; &#xd800;"), "&nothing; & &amp \u{fffd} \u{fffd}"));
