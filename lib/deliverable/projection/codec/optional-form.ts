import type { JsonSchema } from "../json.ts";
import { addWords, orElse } from "./add-words.ts";
import { readOnly } from "./choice-codec.ts";
import { closedObject, type Emit, isNever, once, type Slot } from "./codec.ts";

/** How a place that may be absent says so: in a strict schema every property is there. */
export type OptionalForm = {
  schema: (emit: Emit) => JsonSchema;
  absent: () => unknown;
  isAbsent: (projected: unknown) => boolean;
};

/**
 * Null means absent, except where the caller's schema allows null itself: there null is null, and absent is an object
 * of its own, `{ "absent": true }`, so that the difference survives.
 */
export function createOptionalForm(slot: Slot): OptionalForm {
  const marker = once(() => {
    const { kinds, heads } = slot.node.codec.outputs();
    if (!kinds.has("null")) return undefined;
    let name = "absent";
    while (heads.some(({ keys }) => keys.includes(name))) name += "_";
    return name;
  });
  return {
    schema(emit) {
      const name = marker();
      const schema = emit(slot, 2);
      if (name === undefined) return isNever(slot.node) ? schema : orElse(schema, { type: "null" });
      const absent = closedObject({ [name]: { type: "boolean", const: true } });
      const hint = `Null is a value here; leave it out with {"${name}":true}.`;
      return addWords(orElse(schema, absent), "", hint);
    },
    absent() {
      const name = marker();
      return name === undefined ? null : { [name]: true };
    },
    isAbsent(projected) {
      const name = marker();
      return name === undefined ? projected === null : readOnly(projected, name) === true;
    },
  };
}
