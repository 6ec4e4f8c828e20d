import type { JsonSchema, Kind } from "../json.ts";

/** The result for a value that a codec cannot convert. */
export const refused: unique symbol = Symbol("refused");

/**
 * Converts the values of one node into the form that is sent to the provider (the projected form) and back, and writes
 * the schema of that form. A codec accepts at least every value that the caller's schema allows for the node, apart from
 * objects with properties that the projected form has no place for. Decoding an encoded value returns the original value.
 * Until the whole graph of nodes is built, only `isPlain` may be read.
 */
export type Codec = {
  /** Returns the nodes directly below this one. The nodes below a union are its branches. */
  children: () => readonly Node[];
  /** Returns the JSON types that the projected form may have, and the keys of its objects. */
  outputs: () => Outputs;
  /** Returns the schema of the projected form, without the node's own description. */
  schema: (emit: Emit) => JsonSchema;
  /**
   * Returns the schema of the values themselves, for a provider that is not in strict mode. Omit if the projected form of
   * a value is the value itself.
   */
  ownSchema?: (emit: Emit) => JsonSchema;
  /** Returns the projected form of a value, or `refused`. */
  encode: (value: unknown, run: Encoding) => unknown;
  /** Returns the value that a projected form represents, or the result of `run.refuse`. */
  decode: (projected: unknown, run: Decoding) => unknown;
  /**
   * Whether at least one finite value is valid for the node. This is not so if the node allows no value, or if each
   * value would have to contain another value of the same node without end. `has` answers this for other nodes. Omit if
   * there always is such a value.
   */
  hasValue?: (has: (node: Node) => boolean) => boolean;
  /** Set when any JSON value is a value of the node. */
  isAny?: true;
  /** Set when the codec itself does not change values. The codecs of its children may change them. */
  isPlain?: true;
  /** Returns the declared properties of an object form, for deciding how they are sent before the form is used. */
  declared?: () => readonly DeclaredProperty[];
  /** Set for a value with several forms. Whether the schema of the projected form is then an `anyOf`. */
  isUnion?: () => boolean;
  /** The number of values of a fixed list, or of items of a tuple, that may be absent. */
  optionalItems?: number;
  /** Returns a name for this form, which a union uses if the form is one of its branches. */
  label?: () => string | undefined;
  /**
   * For a form that only wraps another form of the same value, such as the form of a union: returns the step from the
   * wrapper to the wrapped form. Undefined if `projected` contains no wrapped form.
   */
  enter?: (projected: unknown) => Step | undefined;
  /**
   * Returns the step from a projected value to its part that represents the property or item `key` of the caller's
   * value.
   */
  step?: (projected: unknown, key: string) => Step | undefined;
};

/** A node of the graph that represents the caller's schema. Its codec is set while the graph is built. */
export type Node = {
  codec: Codec;
  /** The caller's description, followed by sentences for the constraints that the provider cannot enforce. */
  description: string;
  /** Keywords for bounds that the provider enforces. They are added to the schema that the codec writes. */
  bounds?: JsonSchema;
  /** A name for the node's definition in `$defs`, from the caller's schema. May be empty. */
  name: string;
};

/** A property that the caller's schema names. */
type DeclaredProperty = { name: string; node: Node; isRequired: boolean };

/** A use of a node. `note` is added to the description of this use only. */
export type Slot = { node: Node; note: string };

export type Outputs = {
  kinds: ReadonlySet<Kind>;
  /**
   * One entry for each shape that the projected form can have if it is an object: the first key of the shape and all of
   * its keys. Every object of a shape has all keys of that shape.
   */
  heads: readonly Head[];
  /** Set when a string may be the JSON text of a value. */
  isText?: boolean;
};
export type Head = { first: string; keys: readonly string[] };

/** Writes the schema of a slot's node. The codec places it `levels` schema levels deep in the schema that it writes. */
export type Emit = (slot: Slot, levels: number) => JsonSchema;

export type Encoding = {
  encode: (node: Node, value: unknown) => unknown;
  /** Reports that an object is refused because the projected form has no place for these of its properties. */
  reportUndeclared: (object: Record<string, unknown>, names: readonly string[]) => void;
};

export type Decoding = {
  decode: (node: Node, projected: unknown, ...path: (string | number)[]) => unknown;
  /** Reports a failure. `path` is relative to the part that is being decoded. */
  refuse: (message: string, ...path: (string | number)[]) => typeof refused;
  /** Reports that a string is not the JSON text that it should be. The projected schema allows every string. */
  refuseText: (message: string) => typeof refused;
};

/**
 * A step to a part of a projected value: the path to the part, its node, and the part itself, which is undefined if
 * missing.
 */
export type Step = { path: string[]; node: Node | undefined; projected: unknown };

/**
 * The codec of a node without valid values. Decoding returns the model's value unchanged, so that the validator reports
 * the value.
 */
export const neverCodec: Codec = {
  children: () => [],
  outputs: () => ({ kinds: new Set(["null"]), heads: [] }),
  schema: () => ({ type: "null" }),
  encode: () => refused,
  decode: (projected) => projected,
  hasValue: () => false,
};

/** Whether a node has `neverCodec`, because the caller's schema allows no value. */
export const isNever = (node: Node): boolean => node.codec === neverCodec;

/** Creates a closed object schema whose properties are all required, apart from those in `omitted`. */
export const closedObject = (
  properties: Record<string, JsonSchema>,
  omitted: ReadonlySet<string> = NO_NAMES,
): JsonSchema => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => !omitted.has(name)),
  additionalProperties: false,
});

const NO_NAMES: ReadonlySet<string> = new Set();

/** Wraps `compute` so that it runs only at the first call. Later calls return the same value. */
export function once<Value>(compute: () => Value): () => Value {
  let computed: { value: Value } | undefined;
  return () => {
    computed ??= { value: compute() };
    return computed.value;
  };
}
