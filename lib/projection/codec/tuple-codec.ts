import { isObject, type JsonSchema, ownValue } from "../json.ts";
import { anyOf } from "./add-words.ts";
import {
  type Codec,
  closedObject,
  type Decoding,
  type Emit,
  type Encoding,
  isNever,
  type Node,
  once,
  refused,
  type Slot,
  type Step,
} from "./codec.ts";
import { createOptionalForm, type OptionalForm } from "./optional-form.ts";

type Position = { name: string; slot: Slot; optional: OptionalForm | undefined };

/**
 * Creates the codec for a list whose first items have their own schemas. The provider gets an object
 * `{ "item_0": …, "item_1": …, "rest": […] }`. Items after the minimum length may be absent; if an item in the middle
 * is absent, the items after it move up.
 */
export function createTupleCodec(slots: readonly Slot[], rest: Slot | undefined, lengthMin: number): Codec {
  const positions: Position[] = slots.map((slot, index) => ({
    name: `item_${index}`,
    slot,
    optional: index < lengthMin ? undefined : createOptionalForm(slot),
  }));
  // The form is computed at its first use, because only the complete graph shows whether the items of `rest` can have
  // values.
  const form = once((): TupleForm => {
    const liveRest = rest !== undefined && !isNever(rest.node) ? rest : undefined;
    const keys = [...positions.map(({ name }) => name), ...(liveRest ? ["rest"] : [])];
    return { positions, rest: liveRest, keys, lengthMin };
  });
  return {
    children: () => listChildren(form()),
    optionalItems: positions.filter(({ optional }) => optional !== undefined).length,
    hasValue: (has) =>
      positions.every(({ slot, optional }) => optional !== undefined || has(slot.node)) &&
      (lengthMin <= positions.length || (rest !== undefined && has(rest.node))),
    outputs: () => ({ kinds: new Set(["object"]), heads: [{ first: "item_0", keys: form().keys }] }),
    schema: (emit) => emitTuple(form(), emit),
    ownSchema: (emit) => emitOwnTuple(form(), emit),
    encode: (value, run) => encodeTuple(form(), value, run),
    decode: (projected, run) => decodeTuple(form(), projected, run),
    step: (projected, key) => stepInto(form(), projected, key, rest?.node),
  };
}

/** The layout of the object that the provider gets. */
type TupleForm = {
  positions: readonly Position[];
  /** The items after the positions; undefined if no such items are allowed. */
  rest: Slot | undefined;
  keys: string[];
  lengthMin: number;
};

const isPresent = ({ name, optional }: Position, projected: Record<string, unknown>) =>
  optional?.isAbsent(projected[name]) !== true;

function listChildren({ positions, rest }: TupleForm): Node[] {
  const places = positions.flatMap(({ slot, optional }) => [slot.node, ...(optional?.nodes() ?? [])]);
  return rest ? [...places, rest.node] : places;
}

function emitTuple({ positions, rest }: TupleForm, emit: Emit): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  for (const { name, slot, optional } of positions)
    properties[name] = optional ? optional.schema(emit) : emit(slot, 1);
  if (rest) properties.rest = { type: "array", items: emit(rest, 2) };
  return closedObject(properties);
}

/** Maximum length of the schemas of a tuple's items, as JSON, that are written twice. */
const REPEATED_MAX = 1_000;

/**
 * Writes a tuple as a list with `prefixItems`. Some providers ignore that keyword, so `items` describes all items again,
 * unless their schemas are long.
 */
function emitOwnTuple({ positions, rest, lengthMin }: TupleForm, emit: Emit): JsonSchema {
  const prefixItems = positions.map(({ slot }) => emit(slot, 1));
  const further = rest ? [emit(rest, 1)] : [];
  const isShort = JSON.stringify(prefixItems).length <= REPEATED_MAX;
  return {
    type: "array",
    prefixItems,
    items: isShort ? anyOf([...prefixItems, ...further]) : (further[0] ?? {}),
    ...(lengthMin > 0 && { minItems: lengthMin }),
    ...(!rest && { maxItems: positions.length }),
  };
}

function encodeTuple({ positions, rest, lengthMin }: TupleForm, value: unknown, run: Encoding): unknown {
  if (!Array.isArray(value) || value.length < lengthMin) return refused;
  const projected: Record<string, unknown> = {};
  for (const [index, { name, slot, optional }] of positions.entries()) {
    const encoded = index < value.length ? run.encode(slot.node, value[index]) : optional?.absent();
    if (encoded === refused) return refused;
    projected[name] = encoded;
  }
  const tail: unknown[] = value.slice(positions.length);
  if (!rest) return tail.length === 0 ? projected : refused;
  const items: unknown[] = [];
  for (const item of tail) {
    const encoded = run.encode(rest.node, item);
    if (encoded === refused) return refused;
    items.push(encoded);
  }
  return { ...projected, rest: items };
}

function decodeTuple({ positions, rest, keys }: TupleForm, projected: unknown, run: Decoding): unknown {
  if (!isObject(projected)) return run.refuse("must be object");
  const missing = keys.find((key) => !Object.hasOwn(projected, key));
  if (missing !== undefined) return run.refuse(`must have the property "${missing}"`);
  if (Object.keys(projected).length > keys.length) return run.refuse("must have no other properties");
  const value: unknown[] = [];
  for (const position of positions) {
    if (!isPresent(position, projected)) continue;
    const item = run.decode(position.slot.node, projected[position.name], position.name);
    if (item === refused) return refused;
    value.push(item);
  }
  if (!rest) return value;
  if (!Array.isArray(projected.rest)) return run.refuse("must be array", "rest");
  for (const [index, encoded] of projected.rest.entries()) {
    const item = run.decode(rest.node, encoded, "rest", index);
    if (item === refused) return refused;
    value.push(item);
  }
  return value;
}

/**
 * Returns the step to the item with the index `key`.
 * @param restNode the node of the items after the positions. Set even if these items have no valid values, and the form
 * therefore has no `rest`. Undefined if the codec was created without `rest`.
 */
function stepInto(
  { positions }: TupleForm,
  projected: unknown,
  key: string,
  restNode: Node | undefined,
): Step | undefined {
  if (!isObject(projected)) return undefined;
  const present = positions.filter((position) => isPresent(position, projected));
  const position = present[Number(key)];
  if (position) {
    const { name, slot } = position;
    return { path: [name], node: slot.node, projected: ownValue(projected, name) };
  }
  const index = Number(key) - present.length;
  const list = ownValue(projected, "rest");
  return {
    path: ["rest", String(index)],
    node: restNode,
    projected: Array.isArray(list) ? list[index] : undefined,
  };
}
