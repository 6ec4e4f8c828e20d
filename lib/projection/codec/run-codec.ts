import { type Decoding, type Encoding, type Node, refused, type Step } from "./codec.ts";

/** Depth limit. Deeper values are refused, so that they do not overflow the stack. */
const LEVELS_MAX = 1_000;

/**
 * `undeclared`: objects that a form refused because it has no place for these of their properties. An object of a union
 * may be in the list several times.
 */
export type Encoded = { ok: true; value: unknown } | { ok: false; undeclared: readonly Undeclared[] };
type Undeclared = { object: Record<string, unknown>; names: readonly string[] };
/**
 * `path` is a JSON pointer into the projected value. `isText`: the projected value has the form of the projected schema,
 * but a string in it is not the JSON text that it should be.
 */
export type Decoded =
  | { ok: true; value: unknown }
  | { ok: false; path: string; message: string; isText?: true };

/** Encodes a value. Results are cached, so that nested unions encode each part only once for the same node. */
export function encodeValue(root: Node, value: unknown): Encoded {
  const cache = new Map<Node, Map<object, unknown>>();
  const undeclared: Undeclared[] = [];
  let levels = 0;
  const run: Encoding = {
    reportUndeclared: (object, names) => undeclared.push({ object, names }),
    encode(node, part) {
      if (typeof part !== "object" || part === null) return node.codec.encode(part, run);
      if (levels === LEVELS_MAX) return refused;
      const forms = cache.get(node) ?? new Map<object, unknown>();
      cache.set(node, forms);
      if (forms.has(part)) return forms.get(part);
      levels += 1;
      const form = node.codec.encode(part, run);
      levels -= 1;
      forms.set(part, form);
      return form;
    },
  };
  const form = run.encode(root, value);
  return form === refused ? { ok: false, undeclared } : { ok: true, value: form };
}

/** Decodes a projected value, or reports where it does not fit the projected schema. */
export function decodeValue(root: Node, projected: unknown): Decoded {
  const path: (string | number)[] = [];
  let failure: { path: string; message: string; isText?: true } | undefined;
  let levels = 0;
  const run: Decoding = {
    decode(node, part, ...below) {
      if (levels === LEVELS_MAX) return run.refuse("is nested too deeply", ...below);
      levels += 1;
      path.push(...below);
      const value = node.codec.decode(part, run);
      path.length -= below.length;
      levels -= 1;
      return value;
    },
    refuse(message, ...below) {
      failure = { path: toPointer([...path, ...below]), message };
      return refused;
    },
    refuseText(message) {
      failure = { path: toPointer(path), message, isText: true };
      return refused;
    },
  };
  const value = run.decode(root, projected);
  if (value !== refused) return { ok: true, value };
  return { ok: false, ...(failure ?? { path: "", message: "has no form in the schema" }) };
}

/**
 * Takes a JSON pointer into the caller's value. Returns the pointer to the part of `projected` that represents the same
 * part of the value. If no part of `projected` represents it, returns the pointer to the nearest enclosing part.
 */
export function mapPath(root: Node, pointer: string, projected: unknown): string {
  const keys = pointer === "" ? [] : pointer.split("/").slice(1).map(unescapeKey);
  const path: string[] = [];
  let at: Step | undefined = enterAll({ path: [], node: root, projected });
  path.push(...at.path);
  for (const key of keys) {
    at = at.node?.codec.step?.(at.projected, key);
    if (at === undefined) break;
    path.push(...at.path);
    at = enterAll({ ...at, path: [] });
    path.push(...at.path);
  }
  return toPointer(path);
}

/** Follows the steps through all wrappers around the form of one value. */
function enterAll(step: Step): Step {
  const path = [...step.path];
  let at = step;
  for (let inner = enter(at); inner !== undefined; inner = enter(at)) {
    path.push(...inner.path);
    at = inner;
  }
  return { ...at, path };
}

const enter = (step: Step): Step | undefined => step.node?.codec.enter?.(step.projected);

const toPointer = (path: readonly (string | number)[]): string =>
  path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

const unescapeKey = (key: string): string => key.replaceAll("~1", "/").replaceAll("~0", "~");
