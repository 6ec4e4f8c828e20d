import type { Node } from "../codec/codec.ts";
import { countUses } from "../codec/emit-schema.ts";

/**
 * Whether at least one finite value is valid for the root of a graph. This is not so if a required part has no valid
 * value, or would have to contain itself without end. The result false is certain, because the codecs accept at least
 * what the caller's schema accepts. The result true is not certain.
 */
export function hasValue(root: Node): boolean {
  // Starts with the nodes that were found last, which are usually the deepest. Most schemas then need only one pass.
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
