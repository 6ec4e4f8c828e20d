import { readOnly } from "./choice-codec.ts";
import { type Codec, closedObject, type Node, refused } from "./codec.ts";

/**
 * Creates a codec that wraps a value in an object with one key, for a root that is not a plain object, such as a union.
 */
export function createWrapperCodec(key: string, inner: Node): Codec {
  return {
    children: () => [inner],
    hasValue: (has) => has(inner),
    outputs: () => ({ kinds: new Set(["object"]), heads: [{ first: key, keys: [key] }] }),
    schema: (emit) => closedObject({ [key]: emit({ node: inner, note: "" }, 1) }),
    encode(value, run) {
      const form = run.encode(inner, value);
      return form === refused ? refused : { [key]: form };
    },
    decode(projected, run) {
      const form = readOnly(projected, key);
      return form === undefined
        ? run.refuse(`must have the one property "${key}"`)
        : run.decode(inner, form, key);
    },
    enter(projected) {
      const form = readOnly(projected, key);
      return form === undefined ? undefined : { path: [key], node: inner, projected: form };
    },
  };
}
