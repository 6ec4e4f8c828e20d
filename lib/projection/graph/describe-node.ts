import { joinSentences } from "../codec/add-words.ts";
import { describeConstraints, describeUnion } from "../schema/describe-constraints.ts";
import type { Expansion, Union } from "../schema/expand-formula.ts";
import { readWords } from "../schema/formula.ts";
import type { Builder } from "./builder.ts";

/**
 * Writes the description of a node: the caller's own description, followed by a sentence for each constraint that the
 * schema for the provider cannot express.
 */
export function describeNode(
  builder: Builder,
  { described }: Expansion,
  joined: readonly Union[],
  taken?: Union,
): string {
  let words = "";
  for (const schema of described) words ||= readWords(schema, false);
  // The root's title is not used here, because it becomes the title of the whole schema.
  for (const schema of described) words ||= readWords(schema, builder.index.pointerOf(schema) !== "");
  const sentences = new Set<string>();
  for (const schema of described) {
    for (const { keyword, sentence } of describeConstraints(builder.index, schema)) {
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
