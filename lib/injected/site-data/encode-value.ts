/**
 * A value of a page's database as JSON. Texts, booleans, finite numbers and null stand for themselves; any other value is
 * a list that begins with the name of its kind.
 */
export type EncodedValue = string | number | boolean | null | [kind: string, ...parts: unknown[]];

/** The bytes of a blob, which cannot be read while the database is. `fill` puts them into the encoded value. */
export type PendingBlob = { blob: Blob; fill: (base64: string) => void };

/** Thrown for a value that has no encoding, for example a `CryptoKey`. */
class NotEncodableError extends Error {}

type View = new (buffer: ArrayBuffer, byteOffset: number, length: number) => ArrayBufferView;
const VIEWS: Record<string, View> = {
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
  DataView,
};

/**
 * Encodes a structured value: what `IndexedDB` stores. An object that occurs several times is encoded once, so cycles and
 * shared objects are kept.
 * @returns the value, and the blobs in it, whose bytes the caller must fill in.
 * @throws Error if a part of the value has no encoding, or if the value is nested too deeply.
 */
export function encodeValue(value: unknown): { encoded: EncodedValue; blobs: PendingBlob[] } {
  const seen = new Map<object, number>();
  const blobs: PendingBlob[] = [];

  function encode(part: unknown): EncodedValue {
    if (part === null || typeof part === "string" || typeof part === "boolean") return part;
    if (typeof part === "number")
      return Number.isFinite(part) && !Object.is(part, -0)
        ? part
        : ["number", Object.is(part, -0) ? "-0" : String(part)];
    if (part === undefined) return ["undefined"];
    if (typeof part === "bigint") return ["bigint", String(part)];
    if (typeof part !== "object") throw new NotEncodableError();
    const index = seen.get(part);
    if (index !== undefined) return ["same", index];
    seen.set(part, seen.size);
    return encodeObject(part);
  }

  function encodeObject(part: object): EncodedValue {
    if (part instanceof Date) return ["date", part.getTime()];
    if (part instanceof RegExp) return ["regexp", part.source, part.flags];
    if (part instanceof ArrayBuffer) return ["buffer", toBase64(new Uint8Array(part))];
    if (ArrayBuffer.isView(part)) return encodeView(part);
    if (part instanceof Blob) return encodeBlob(part);
    if (part instanceof Map) return ["map", [...part].map(([key, each]) => [encode(key), encode(each)])];
    if (part instanceof Set) return ["set", [...part].map(encode)];
    if (part instanceof Error) return ["error", part.name, part.message];
    if (part instanceof Boolean || part instanceof Number || part instanceof String || part instanceof BigInt)
      return ["boxed", encode(part.valueOf())];
    const fields = () => Object.entries(part).map(([key, each]) => [key, encode(each)]);
    if (Array.isArray(part)) return ["array", part.length, fields()];
    // Objects of the browser, such as `CryptoKey` and file handles, have a class of their own.
    if (Object.prototype.toString.call(part) !== "[object Object]") throw new NotEncodableError();
    return ["object", fields()];
  }

  function encodeView(view: ArrayBufferView): EncodedValue {
    const found = Object.entries(VIEWS).find(([, type]) => view instanceof type);
    if (!found) throw new NotEncodableError();
    const [name] = found;
    const length = "length" in view ? Number(view.length) : view.byteLength;
    return ["view", name, encode(view.buffer), view.byteOffset, length];
  }

  function encodeBlob(blob: Blob): EncodedValue {
    const file = blob instanceof File ? [blob.name, blob.lastModified] : [];
    const encoded: EncodedValue = ["blob", "", blob.type, ...file];
    blobs.push({
      blob,
      fill(base64) {
        encoded[1] = base64;
      },
    });
    return encoded;
  }

  return { encoded: encode(value), blobs };
}

/** Decodes what {@link encodeValue} has encoded. */
export function decodeValue(value: EncodedValue): unknown {
  /** The decoded objects, in the order in which they were encoded. */
  const objects: unknown[] = [];

  function decode(part: EncodedValue): unknown {
    if (!Array.isArray(part)) return part;
    const [kind, ...rest] = part;
    if (kind === "same") return objects[Number(rest[0])];
    if (kind === "undefined") return undefined;
    if (kind === "number") return Number(rest[0]);
    if (kind === "bigint") return BigInt(String(rest[0]));
    const index = objects.push(undefined) - 1;
    return decodeObject(kind, rest, index);
  }

  function decodeObject(kind: string, parts: unknown[], index: number): unknown {
    const keep = <Decoded>(decoded: Decoded): Decoded => {
      objects[index] = decoded;
      return decoded;
    };
    const [first, second, third, fourth] = parts;
    const fillFields = (target: object, fields: [string, EncodedValue][]) => {
      // Defines the property, because assigning `__proto__` would change the object's prototype.
      for (const [key, each] of fields)
        Object.defineProperty(target, key, {
          value: decode(each),
          writable: true,
          enumerable: true,
          configurable: true,
        });
      return target;
    };
    switch (kind) {
      case "date":
        return keep(new Date(first === null ? Number.NaN : Number(first)));
      case "regexp":
        return keep(new RegExp(String(first), String(second)));
      case "buffer":
        return keep(fromBase64(String(first)).buffer);
      case "view": {
        const View = VIEWS[String(first)];
        if (!View) throw new NotEncodableError();
        return keep(new View(decode(second as EncodedValue) as ArrayBuffer, Number(third), Number(fourth)));
      }
      case "blob": {
        const bytes = [fromBase64(String(first))];
        const type = String(second);
        if (third === undefined) return keep(new Blob(bytes, { type }));
        return keep(new File(bytes, String(third), { type, lastModified: Number(fourth) }));
      }
      case "map": {
        const map = keep(new Map());
        for (const [key, each] of first as [EncodedValue, EncodedValue][]) map.set(decode(key), decode(each));
        return map;
      }
      case "set": {
        const set = keep(new Set());
        for (const each of first as EncodedValue[]) set.add(decode(each));
        return set;
      }
      case "error": {
        const error = keep(new Error(String(second)));
        error.name = String(first);
        return error;
      }
      case "boxed":
        return keep(Object(decode(first as EncodedValue)));
      case "array":
        return fillFields(keep(new Array(Number(first))), second as [string, EncodedValue][]);
      case "object":
        return fillFields(keep({}), first as [string, EncodedValue][]);
      default:
        throw new NotEncodableError();
    }
  }

  return decode(value);
}

/** Number of bytes that one call turns into characters: the number of arguments of a call is limited. */
const CHUNK = 8_192;

/** Encodes bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK)
    text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(text);
}

const fromBase64 = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
