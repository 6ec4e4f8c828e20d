import { kindOf } from "../json.ts";
import { type Codec, refused } from "./codec.ts";

export type ScalarType = "null" | "boolean" | "integer" | "number" | "string";

/** Values that travel as they are. */
export function createScalarCodec(type: ScalarType): Codec {
  const kind = type === "integer" ? "number" : type;
  const takes = (value: unknown) => kindOf(value) === kind && (type !== "integer" || Number.isInteger(value));
  return {
    isPlain: true,
    children: () => [],
    outputs: () => ({ kinds: new Set([kind]), heads: [] }),
    schema: () => ({ type }),
    encode: (value) => (takes(value) ? value : refused),
    decode: (projected, run) => (takes(projected) ? projected : run.refuse(`must be ${type}`)),
  };
}
