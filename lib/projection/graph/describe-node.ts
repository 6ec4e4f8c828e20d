import { joinSentences } from "../codec/add-words.ts";
import { describeConstraints, describeUnion } from "../schema/describe-constraints.ts";
import type { Expansion, Union } from "../schema/expand-formula.ts";
import { type Formula, readWords, schemaOf } from "../schema/formula.ts";
import { kindsOf } from "../schema/kinds.ts";
import { quoteSchema } from "../schema/quote-schema.ts";
import type { SchemaIndex } from "../schema/schema-index.ts";
import type { SchemaObject } from "../schema/walk-schema.ts";
import type { Builder } from "./builder.ts";

/**
 * Writes the description of a node: the caller's own description, followed by a sentence for each constraint that the
 * schema for the provider cannot express.
 */
export function describeNode(
  builder: Builder,
  { described }: Expansion,
  joined: readonly Union[],
  { taken, enforced }: { taken?: Union; enforced?: ReadonlySet<string> | undefined } = {},
): string {
  let words = "";
  for (const schema of described) words ||= readWords(schema, false);
  // The root's title is not used here, because it becomes the title of the whole schema.
  for (const schema of described) words ||= readTitle(builder.index, schema);
  const sentences = new Set<string>();
  for (const schema of described) {
    for (const { keyword, sentence } of describeConstraints(builder.index, schema)) {
      if (enforced?.has(keyword)) continue;
      builder.note(schema, keyword, sentence);
      sentences.add(sentence);
    }
  }
  const addSentence = (owner: Union["owner"], keyword: string, sentence: string) => {
    if (!described.includes(owner)) return;
    builder.note(owner, keyword, sentence);
    sentences.add(sentence);
  };
  for (const { owner, keyword, branches } of joined)
    addSentence(owner, keyword, describeUnion(builder.index, keyword, branches));
  if (taken?.keyword === "oneOf") addSentence(taken.owner, "oneOf", "Only one of these forms may fit.");
  return joinSentences(words, ...sentences);
}

/** Maximum length of a schema in the description of a JSON text. */
const TEXT_SCHEMA_MAX = 800;

/** Describes the JSON text that the provider gets instead of the form of a formula. */
export function describeText(index: SchemaIndex, formula: Formula) {
  const schema = schemaOf(formula);
  const kinds = kindsOf(index, schema);
  const [only] = kinds;
  const noun = kinds.size === 1 ? (NOUNS[only ?? ""] ?? "a value") : "a value";
  return {
    what: `${noun} that matches ${quoteSchema(index, schema, TEXT_SCHEMA_MAX)}`,
    kinds: new Set([...kinds].map((kind) => (kind === "integer" ? "number" : kind))),
  };
}

const NOUNS: Record<string, string> = { object: "an object", array: "a list" };

/** Returns the title of a schema. A title that only repeats the name of the schema says nothing more. */
function readTitle(index: SchemaIndex, schema: SchemaObject): string {
  const title = readWords(schema, index.pointerOf(schema) !== "");
  const squash = (text: string) => text.replaceAll(/[^\p{L}\p{N}]/gu, "").toLowerCase();
  return squash(title) === squash(index.nameOf(schema)) ? "" : title;
}
