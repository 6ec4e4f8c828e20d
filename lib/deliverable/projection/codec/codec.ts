import type { JsonSchema, Kind } from "../json.ts";

/** What a codec answers for a value that it has no form for. */
export const refused: unique symbol = Symbol("refused");

/**
 * How the values of one place travel: the schema of their projected form, the way there (`encode`) and the way back
 * (`decode`). A codec takes at least every value that is valid at its place, and may take more; going there and back
 * is the identity on all that it takes. Nothing but `isPlain` may be asked before the whole graph is built.
 */
export type Codec = {
  /** The places directly below, and the branches of a union. */
  children: () => readonly Node[];
  /** What the projected form may look like from outside. */
  outputs: () => Outputs;
  /** The schema of the projected form, without the place's own description. */
  schema: (emit: Emit) => JsonSchema;
  /** The projected form of a value, or `refused`. */
  encode: (value: unknown, run: Encoding) => unknown;
  /** The value of a projected form, or what `run.refuse` answers. */
  decode: (projected: unknown, run: Decoding) => unknown;
  /** Whether the place has a value of finite size, given which other places have one; without this it has. */
  hasValue?: (has: (node: Node) => boolean) => boolean;
  /** Whether values that the codec takes travel as they are, as far as that is up to it and not to its children. */
  isPlain?: true;
  /** What a union calls this form when it has to be told apart. */
  label?: () => string | undefined;
  /** Where a projected value only wraps the form of the same place: what is inside. */
  enter?: (projected: unknown) => Step | undefined;
  /** Where the part of the value that `key` names stands in the projected value. */
  step?: (projected: unknown, key: string) => Step | undefined;
};

/** A place that a schema of the caller describes. Its codec is there once the graph is built. */
export type Node = {
  codec: Codec;
  /** The caller's words and the sentences of what the provider cannot enforce. */
  description: string;
  /** What the place is called in the caller's schema; "" when it has no name. */
  name: string;
};

/** A use of a place, and what is said of that use alone. */
export type Slot = { node: Node; note: string };

export type Outputs = {
  kinds: ReadonlySet<Kind>;
  /** The objects it may be: their first key and all their keys, each of which is always there. */
  heads: readonly Head[];
};
export type Head = { first: string; keys: readonly string[] };

/** Asks for the schema of a place that stands so many levels deeper. */
export type Emit = (slot: Slot, levels: number) => JsonSchema;

export type Encoding = { encode: (node: Node, value: unknown) => unknown };

export type Decoding = {
  decode: (node: Node, projected: unknown, ...path: (string | number)[]) => unknown;
  /** Notes what is wrong and where, below the place that is decoded now. */
  refuse: (message: string, ...path: (string | number)[]) => typeof refused;
};

/** A part of a projected value: how to get there, its place, and the part itself (undefined when it is not there). */
export type Step = { path: string[]; node: Node | undefined; projected: unknown };

/** A place where no value is valid. What the model writes there comes back as it is, to be found wrong. */
export const neverCodec: Codec = {
  children: () => [],
  outputs: () => ({ kinds: new Set(["null"]), heads: [] }),
  schema: () => ({ type: "null" }),
  encode: () => refused,
  decode: (projected) => projected,
  hasValue: () => false,
};

/** Whether no value can be valid at a place. */
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
  let made: { value: Value } | undefined;
  return () => {
    made ??= { value: compute() };
    return made.value;
  };
}
