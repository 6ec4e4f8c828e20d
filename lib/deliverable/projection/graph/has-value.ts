import type { Node } from "../codec/codec.ts";
import { countUses } from "../codec/emit-schema.ts";

/**
 * Whether the root place of a graph has a value of finite size. It has none if required parts contain themselves, or a
 * place without valid values. Places accept at least what the caller's schema accepts, so a false result is certain.
 */
export function hasValue(root: Node): boolean {
  // The order is reversed, so that leaves come first: then one pass suffices unless the schema is recursive.
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
