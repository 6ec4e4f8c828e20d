import type { Node } from "../codec/codec.ts";
import { countUses } from "../codec/emit-schema.ts";

/**
 * Whether the root of a graph has a value of finite size. It has none if a required part contains itself or has no
 * valid value. The codecs accept at least what the caller's schema accepts, so the result false is certain.
 */
export function hasValue(root: Node): boolean {
  // Starts with the leaves, so that one pass suffices for a schema without recursion.
  const open = new Set([...countUses(root).keys()].reverse());
  const has = (node: Node) => !open.has(node);
  let isSettled = false;
  while (!isSettled && open.has(root)) {
    isSettled = true;
    for (const node of open)
      if (node.codec.hasValue?.(has) !== false) {
        open.delete(node);
        isSettled = false;
      }
  }
  return has(root);
}
