import { isInexact } from "#lib/text/decimal.ts";
import { isObject, type JsonSchema, type Kind, kindOf } from "../json.ts";
import { type Codec, type Decoding, type Outputs, refused } from "./codec.ts";
import type { Entry } from "./list-codec.ts";

/** The words with which the description of each JSON text begins. `build-example.ts` and the demo model look for them. */
const JSON_TEXT = "JSON text";

type TextOptions = {
  /** What the text contains: `a list`. Empty for any value. */
  what: string;
  /** The types of the values that may be sent as text. Default: all. */
  kinds?: ReadonlySet<Kind>;
  /** The schema of the values themselves. Default: any value. */
  own?: JsonSchema;
};

/**
 * Creates the codec for values that the provider gets as a string with their JSON text. It takes the place of schemas
 * that a provider refuses, or that would be much longer than the caller's own.
 */
export function createTextCodec({ what, kinds, own = {} }: TextOptions): Codec {
  const description = what === "" ? `${JSON_TEXT}.` : `${JSON_TEXT} of ${what}.`;
  return {
    children: () => [],
    outputs: () => TEXT_OUTPUTS,
    schema: () => ({ type: "string", description }),
    ownSchema: () => own,
    encode(value) {
      const kind = kindOf(value);
      if (kind === undefined || kinds?.has(kind) === false) return refused;
      return writeText(value);
    },
    decode: (projected, run) => readText(projected, run),
  };
}

/**
 * Creates the codec for properties of an object that have no place of their own. The provider gets the JSON text of an
 * object with them.
 *
 * @param isNullable whether no properties are sent as null. Otherwise they are sent as the text `{}`.
 */
export function createTextEntriesCodec(words: string, isNullable: boolean): Codec {
  const description = `${JSON_TEXT} of ${words}; ${isNullable ? "normally null" : "{} if there are none"}.`;
  return {
    children: () => [],
    outputs: () => TEXT_OUTPUTS,
    schema: () => ({ type: isNullable ? ["string", "null"] : "string", description }),
    encode(entries) {
      const list = entries as Entry[];
      if (isNullable && list.length === 0) return null;
      const parts: string[] = [];
      for (const { key, value } of list) {
        const text = writeText(value);
        if (text === refused) return refused;
        parts.push(`${JSON.stringify(key)}:${text}`);
      }
      return `{${parts.join(",")}}`;
    },
    decode(projected, run) {
      if (projected === null) return [];
      const object = readText(projected, run);
      if (object === refused) return refused;
      if (!isObject(object)) return run.refuseText("must be the JSON text of an object");
      return Object.keys(object).map((key): Entry => ({ key, value: object[key] }));
    },
    step: (projected, key) =>
      typeof projected === "string" && projected.includes(JSON.stringify(key))
        ? { path: [], node: undefined, projected: undefined }
        : undefined,
  };
}

const TEXT_OUTPUTS: Outputs = { kinds: new Set(["string"]), heads: [], isText: true };

function writeText(value: unknown): string | typeof refused {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return refused;
    throw error;
  }
}

/** Parses a JSON text. The caller must not get numbers other than those that the model wrote. */
function readText(projected: unknown, run: Decoding): unknown {
  if (typeof projected !== "string") return run.refuse("must be string");
  let inexact: string | undefined;
  let value: unknown;
  try {
    value = JSON.parse(projected, (_, part: unknown, context?: { source?: string }) => {
      const source = context?.source;
      if (typeof part === "number" && source !== undefined && isInexact(source, part)) inexact ??= source;
      return part;
    });
  } catch (error) {
    return run.refuseText(error instanceof RangeError ? "is nested too deeply" : "must be JSON text");
  }
  return inexact === undefined
    ? value
    : run.refuseText(
        `must not have the number ${inexact.slice(0, 60)}, which JSON readers do not keep exactly`,
      );
}
