import type { Node } from "../codec/codec.ts";
import { countUses } from "../codec/emit-schema.ts";

/**
 * Whether any value of finite size fits a graph of places. None does if required parts lead back to themselves, or to a
 * place without valid values. Places accept at least what the caller's schema accepts, so false is certain.
 */
export function hasValue(root: Node): boolean {
  // Leaves come first, so one pass suffices unless the schema is recursive.
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
