import type { JsonSchema } from "../json.ts";
import { addWords, orElse } from "./add-words.ts";
import { readOnly } from "./choice-codec.ts";
import {
  type Codec,
  closedObject,
  type Emit,
  isNever,
  type Node,
  once,
  refused,
  type Slot,
} from "./codec.ts";

/**
 * The form of a property that may be absent. A strict schema requires every property, so the projected property has an
 * additional value which means that the property is absent: null, or a marker object.
 */
export type OptionalForm = {
  schema: (emit: Emit) => JsonSchema;
  /** Returns the node of the marker, the object that means absent. The list is empty if null means absent. */
  nodes: () => readonly Node[];
  absent: () => unknown;
  isAbsent: (projected: unknown) => boolean;
};

/** Creates the node of a marker. The marker is an object such as `{ "absent": true }`, with `name` as its only key. */
function createMarker(name: string): Node {
  const schema = closedObject({ [name]: { type: "boolean", const: true } });
  const codec: Codec = {
    children: () => [],
    outputs: () => ({ kinds: new Set(["object"]), heads: [{ first: name, keys: [name] }] }),
    schema: () => schema,
    encode: () => refused,
    decode: (_, run) => run.refuse("must not be absent"),
  };
  return { codec, description: "", name };
}

const PLAIN_NAME = "absent";
/** The marker with the key `absent`. All optional forms with this marker share it, so that a schema defines it once. */
const plainMarker = createMarker(PLAIN_NAME);

/**
 * Creates the form of an optional property. Null means that the property is absent. If null is already the projected
 * form of one of the property's values, an object such as `{ "absent": true }` means that the property is absent.
 */
export function createOptionalForm(slot: Slot, isOmitted = false): OptionalForm {
  if (isOmitted) return omittedForm(slot);
  const marker = once(() => {
    const { kinds, heads } = slot.node.codec.outputs();
    if (!kinds.has("null")) return undefined;
    let name = PLAIN_NAME;
    while (heads.some(({ keys }) => keys.includes(name))) name += "_";
    return name === PLAIN_NAME ? plainMarker : createMarker(name);
  });
  return {
    schema(emit) {
      const mark = marker();
      const schema = emit(slot, 2);
      if (mark === undefined) return isNever(slot.node) ? schema : orElse(schema, { type: "null" });
      const marked = emit({ node: mark, note: "" }, 2);
      const hint = `Null is a value here; leave it out with {"${mark.name}":true}.`;
      return addWords(orElse(schema, marked), "", hint);
    },
    nodes() {
      const mark = marker();
      return mark ? [mark] : [];
    },
    absent() {
      const mark = marker();
      return mark ? { [mark.name]: true } : null;
    },
    isAbsent(projected) {
      const mark = marker();
      return mark ? readOnly(projected, mark.name) === true : projected === null;
    },
  };
}

/** The form of a property that is left out when it is absent. */
const omittedForm = (slot: Slot): OptionalForm => ({
  schema: (emit) => emit(slot, 1),
  nodes: () => [],
  absent: () => undefined,
  isAbsent: () => false,
});
