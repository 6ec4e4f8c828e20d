import type { Node } from "../codec/codec.ts";
import { countUses } from "../codec/emit-schema.ts";

/**
 * Whether any value of finite size fits a graph of places. None does where what is required leads back to itself, or
 * to a place that no value fits. Places take at least what the caller's schema takes, so "no" is certain.
 */
export function hasValue(root: Node): boolean {
  // Leaves first, so that one pass is enough for all but recursive schemas.
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
