import type { JsonSchema, Kind } from "../json.ts";

/** The result for a value that a codec cannot convert. */
export const refused: unique symbol = Symbol("refused");

/**
 * Converts the values of one place in the caller's schema into the form that is sent to the provider (the projected
 * form) and back, and writes the schema of that form. A codec accepts at least every value that is valid at its place.
 * Decoding an encoded value returns the same value. Until all places are built, only `isPlain` may be read.
 */
export type Codec = {
  /** The places directly below this one. For a union these are its branches. */
  children: () => readonly Node[];
  /** The JSON types that the projected form may have, and the keys of its objects. */
  outputs: () => Outputs;
  /** The schema of the projected form, without the place's own description. */
  schema: (emit: Emit) => JsonSchema;
  /** Returns the projected form of a value, or `refused`. */
  encode: (value: unknown, run: Encoding) => unknown;
  /** Returns the value that a projected form stands for, or the result of `run.refuse`. */
  decode: (projected: unknown, run: Decoding) => unknown;
  /** Whether the place has a value of finite size; `has` tells this of other places. Omit if the place always has one. */
  hasValue?: (has: (node: Node) => boolean) => boolean;
  /** Set when the codec itself does not change values. The codecs of its children may change them. */
  isPlain?: true;
  /** A name for this form, when it is a branch of a union. */
  label?: () => string | undefined;
  /** For a form that only wraps another form of the same value: the step to the wrapped form. */
  enter?: (projected: unknown) => Step | undefined;
  /** The step from the projected value to the part that stands for the value's property or item `key`. */
  step?: (projected: unknown, key: string) => Step | undefined;
};

/** A place in the caller's schema. Its codec is set while the graph of all places is built. */
export type Node = {
  codec: Codec;
  /** The caller's description, followed by sentences for the constraints that the provider cannot enforce. */
  description: string;
  /** A name for the definition of this place, from the caller's schema. May be empty. */
  name: string;
};

/** One use of a place, with a note that only this use adds to the description. */
export type Slot = { node: Node; note: string };

export type Outputs = {
  kinds: ReadonlySet<Kind>;
  /** One entry for each kind of object: its first key and all of its keys. An object always has all of them. */
  heads: readonly Head[];
};
export type Head = { first: string; keys: readonly string[] };

/** Writes the schema of a place that is `levels` levels below the current schema. */
export type Emit = (slot: Slot, levels: number) => JsonSchema;

export type Encoding = { encode: (node: Node, value: unknown) => unknown };

export type Decoding = {
  decode: (node: Node, projected: unknown, ...path: (string | number)[]) => unknown;
  /** Reports a failure. `path` is relative to the part that is being decoded. */
  refuse: (message: string, ...path: (string | number)[]) => typeof refused;
};

/** A part of a projected value: the path to the part, its place, and the part itself, which is undefined if missing. */
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

/** Wraps `compute` so that it runs only at the first call. Later calls return the same value. */
export function once<Value>(compute: () => Value): () => Value {
  let computed: { value: Value } | undefined;
  return () => {
    computed ??= { value: compute() };
    return computed.value;
  };
}
