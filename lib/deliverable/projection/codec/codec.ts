import type { JsonSchema, Kind } from "../json.ts";

/** The result for a value that a codec cannot convert. */
export const refused: unique symbol = Symbol("refused");

/**
 * Converts the values of one place into their projected form (`encode`) and back (`decode`), and writes the schema of
 * that form. A codec accepts at least every value that is valid at its place. Decoding an encoded value returns the
 * same value. Until the whole graph is built, only `isPlain` may be read.
 */
export type Codec = {
  /** The places directly below; for a union, its branches. */
  children: () => readonly Node[];
  /** The possible types and keys of the projected form. */
  outputs: () => Outputs;
  /** The schema of the projected form, without the place's own description. */
  schema: (emit: Emit) => JsonSchema;
  /** The projected form of a value, or `refused`. */
  encode: (value: unknown, run: Encoding) => unknown;
  /** The value of a projected form, or the result of `run.refuse`. */
  decode: (projected: unknown, run: Decoding) => unknown;
  /** Whether the place has a value of finite size, given the places that have one. Omit if the place always has one. */
  hasValue?: (has: (node: Node) => boolean) => boolean;
  /** Set when the codec itself does not change values (its children may). */
  isPlain?: true;
  /** A name for this form in a union. */
  label?: () => string | undefined;
  /** The step into a projected value that only wraps the form of the same place. */
  enter?: (projected: unknown) => Step | undefined;
  /** The step from the projected value to the part for `key`. */
  step?: (projected: unknown, key: string) => Step | undefined;
};

/** A place in the caller's schema. Its codec is set while the graph is built. */
export type Node = {
  codec: Codec;
  /** The caller's description, and sentences for the constraints that the provider cannot enforce. */
  description: string;
  /** The place's name in the caller's schema; "" without one. */
  name: string;
};

/** A use of a place, with a note for this use only. */
export type Slot = { node: Node; note: string };

export type Outputs = {
  kinds: ReadonlySet<Kind>;
  /** The possible objects: their first key and all their keys, each of which is always present. */
  heads: readonly Head[];
};
export type Head = { first: string; keys: readonly string[] };

/** Writes the schema of a place, `levels` levels deeper. */
export type Emit = (slot: Slot, levels: number) => JsonSchema;

export type Encoding = { encode: (node: Node, value: unknown) => unknown };

export type Decoding = {
  decode: (node: Node, projected: unknown, ...path: (string | number)[]) => unknown;
  /** Reports a failure at a path below the place that is being decoded. */
  refuse: (message: string, ...path: (string | number)[]) => typeof refused;
};

/** A part of a projected value: the path to it, its place, and the part itself (undefined when it is missing). */
export type Step = { path: string[]; node: Node | undefined; projected: unknown };

/** A place without valid values. The model's value is returned unchanged, so that the validator reports it. */
export const neverCodec: Codec = {
  children: () => [],
  outputs: () => ({ kinds: new Set(["null"]), heads: [] }),
  schema: () => ({ type: "null" }),
  encode: () => refused,
  decode: (projected) => projected,
  hasValue: () => false,
};

/** Whether a place has no valid value. */
export const isNever = (node: Node): boolean => node.codec === neverCodec;

/** A closed object schema whose properties are all required. */
export const closedObject = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/** Computes once, at the first call. */
export function once<Value>(compute: () => Value): () => Value {
  let computed: { value: Value } | undefined;
  return () => {
    computed ??= { value: compute() };
    return computed.value;
  };
}
