import { kindOf } from "../json.ts";
import { type Codec, type Node, type Outputs, refused } from "./codec.ts";

type ScalarType = "null" | "boolean" | "integer" | "number" | "string";

/** Returns the codec for scalars of a type. Scalars are sent to the provider unchanged. */
export const scalarCodec = (type: ScalarType): Codec => scalarCodecs[type];

function createScalarCodec(type: ScalarType): Codec {
  const kind = type === "integer" ? "number" : type;
  const outputs: Outputs = { kinds: new Set([kind]), heads: [] };
  const takes = (value: unknown) => kindOf(value) === kind && (type !== "integer" || Number.isInteger(value));
  return {
    isPlain: true,
    children: () => NONE,
    outputs: () => outputs,
    schema: () => ({ type }),
    encode: (value) => (takes(value) ? value : refused),
    decode: (projected, run) => (takes(projected) ? projected : run.refuse(`must be ${type}`)),
  };
}

const NONE: readonly Node[] = [];

const scalarCodecs: Record<ScalarType, Codec> = {
  null: createScalarCodec("null"),
  boolean: createScalarCodec("boolean"),
  integer: createScalarCodec("integer"),
  number: createScalarCodec("number"),
  string: createScalarCodec("string"),
};
