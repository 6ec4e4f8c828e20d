import type { ChoiceCodec } from "../codec/choice-codec.ts";
import type { Codec, Node } from "../codec/codec.ts";
import { countUses } from "../codec/emit-schema.ts";
import type { ProfileRules } from "./profile.ts";

/** Moves the longest lists of choices into descriptions, until the remaining lists are within the profile's limits. */
export function limitChoices(root: Node, { enumValuesMax, largeEnum }: ProfileRules): void {
  const lists = [...countUses(root).keys()].map(({ codec }) => codec).filter(isChoice);
  lists.sort((one, other) => other.choices.length - one.choices.length);
  let values = lists.reduce((sum, { choices }) => sum + choices.length, 0);
  for (const list of lists) {
    const isTooLarge = list.choices.length > largeEnum.values && charactersIn(list) > largeEnum.charactersMax;
    if (!isTooLarge && values <= enumValuesMax) continue;
    list.moveToDescription();
    values -= list.choices.length;
  }
}

const isChoice = (codec: Codec): codec is ChoiceCodec => "choices" in codec;

const charactersIn = ({ choices }: ChoiceCodec): number =>
  choices.reduce<number>((sum, choice) => sum + (typeof choice === "string" ? choice.length : 0), 0);
