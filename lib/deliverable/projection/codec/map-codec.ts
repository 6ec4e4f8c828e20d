import { isObject, setOwn } from "../json.ts";
import { addWords } from "./add-words.ts";
import { type Codec, once, refused } from "./codec.ts";
import type { Entry } from "./list-codec.ts";
import type { Section } from "./object-codec.ts";

/** Creates the codec for an object without named properties. The provider gets a list of entries. */
export function createMapCodec({ node }: Section): Codec {
  const entries = once(() => node.codec);
  return {
    children: () => entries().children(),
    outputs: () => entries().outputs(),
    schema: (emit) => {
      const schema = entries().schema(emit);
      return addWords(schema, node.description);
    },
    encode: (value, run) =>
      isObject(value)
        ? run.encode(
            node,
            Object.keys(value).map((key): Entry => ({ key, value: value[key] })),
          )
        : refused,
    // When a key repeats, the last entry wins.
    decode(projected, run) {
      const list = run.decode(node, projected);
      if (list === refused) return refused;
      const value: Record<string, unknown> = {};
      for (const entry of list as Entry[]) setOwn(value, entry.key, entry.value);
      return value;
    },
    step: (projected, key) => entries().step?.(projected, key),
  };
}
