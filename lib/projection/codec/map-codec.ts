import { isObject, setOwn } from "../json.ts";
import { addWords } from "./add-words.ts";
import { type Codec, once, refused } from "./codec.ts";
import type { Entry } from "./list-codec.ts";
import { openTo, type Section } from "./object-codec.ts";

/** Creates the codec for an object without named properties. The provider gets a list of entries. */
export function createMapCodec({ node, value }: Section): Codec {
  const entries = once(() => node.codec);
  return {
    children: () => entries().children(),
    outputs: () => entries().outputs(),
    schema: (emit) => {
      const schema = entries().schema(emit);
      return addWords(schema, node.description);
    },
    ownSchema: (emit) => addWords({ type: "object", ...openTo([value], emit) }, node.description),
    encode: (map, run) =>
      isObject(map)
        ? run.encode(
            node,
            Object.keys(map).map((key): Entry => ({ key, value: map[key] })),
          )
        : refused,
    // When a key repeats, the last entry wins.
    decode(projected, run) {
      const list = run.decode(node, projected);
      if (list === refused) return refused;
      const map: Record<string, unknown> = {};
      for (const entry of list as Entry[]) setOwn(map, entry.key, entry.value);
      return map;
    },
    step: (projected, key) => entries().step?.(projected, key),
  };
}
