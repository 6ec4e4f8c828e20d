import { briefText, type JsonSchema, kindOf } from "../json.ts";
import { type Codec, closedObject, refused } from "./codec.ts";

/** A codec for a fixed list of values. A list that exceeds the provider's limits moves into the description. */
export type ChoiceCodec = Codec & {
  choices: readonly (string | number | boolean)[];
  /**
   * Lists the choices in the schema's description instead of in `enum` or `const`. The schema then accepts any value of
   * their type.
   */
  moveToDescription: () => void;
};

const LIST_CHARACTERS_MAX = 4_000;

/** Creates the codec for scalars of one type in an `enum` or `const`. Scalars are sent to the provider unchanged. */
export function createChoiceCodec(choices: readonly (string | number | boolean)[]): ChoiceCodec {
  const allowed = new Set<unknown>(choices);
  const kind = kindOf(choices[0]) ?? "string";
  const type = kind === "number" && choices.every(Number.isInteger) ? "integer" : kind;
  let isInDescription = false;
  return {
    isPlain: true,
    choices,
    moveToDescription: () => {
      isInDescription = true;
    },
    children: () => [],
    outputs: () => ({ kinds: new Set([kind]), heads: [] }),
    schema: () => choiceSchema(type, choices, isInDescription),
    encode: (value) => (allowed.has(value) ? value : refused),
    decode(projected, run) {
      if (isInDescription ? kindOf(projected) === kind : allowed.has(projected)) return projected;
      return run.refuse(`must be one of ${briefText(choices, 200)}`);
    },
  };
}

/**
 * Creates the codec for lists and objects in an `enum` or `const`. The provider gets `{ "json": … }` with the value as
 * JSON text.
 */
export function createJsonTextCodec(
  values: readonly unknown[],
  textOf: (value: unknown) => string,
): ChoiceCodec {
  const byText = new Map(values.map((value) => [textOf(value), value]));
  const choices = [...byText.keys()];
  let isInDescription = false;
  return {
    choices,
    moveToDescription: () => {
      isInDescription = true;
    },
    children: () => [],
    outputs: () => ({ kinds: new Set(["object"]), heads: [{ first: "json", keys: ["json"] }] }),
    schema: () => closedObject({ json: choiceSchema("string", choices, isInDescription) }),
    ownSchema: () => ({ enum: [...byText.values()] }),
    encode(value) {
      const kind = kindOf(value);
      if (kind !== "object" && kind !== "array") return refused;
      const text = textOf(value);
      return byText.has(text) ? { json: text } : refused;
    },
    decode(projected, run) {
      const text = readOnly(projected, "json");
      if (typeof text === "string" && byText.has(text)) return byText.get(text);
      if (isInDescription && typeof text === "string") {
        try {
          return JSON.parse(text);
        } catch {
          return run.refuse("must be JSON text", "json");
        }
      }
      return run.refuse(`must be an object whose "json" is one of ${briefText(choices, 200)}`);
    },
  };
}

function choiceSchema(type: string, choices: readonly unknown[], isInDescription: boolean): JsonSchema {
  if (isInDescription) return { type, description: `One of: ${listChoices(choices)}.` };
  return choices.length === 1 ? { type, const: choices[0] } : { type, enum: choices };
}

/** Lists as many whole choices as fit. */
function listChoices(choices: readonly unknown[]): string {
  const listed: string[] = [];
  let length = 0;
  for (const choice of choices) {
    const text = JSON.stringify(choice);
    length += text.length + 2;
    if (length > LIST_CHARACTERS_MAX) break;
    listed.push(text);
  }
  const more = choices.length - listed.length;
  return more === 0 ? listed.join(", ") : `${listed.join(", ")}, and ${more} more`;
}

/** Returns the value of the property `key` if it is the object's only property, undefined otherwise. */
export function readOnly(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  if (!Object.hasOwn(value, key) || Object.keys(value).length !== 1) return undefined;
  return Reflect.get(value, key);
}
