import type { JsonSchema } from "../json.ts";
import { addWords } from "./add-words.ts";
import { chooseNames } from "./choose-names.ts";
import type { Emit, Node } from "./codec.ts";

/** Schemas below this level become definitions, so that the schema stays within the provider's depth limit. */
const LEVELS_INLINE = 5;

/**
 * Writes the schema of a graph. Nodes that are used more than once, are recursive, or are deep become `$defs`, unless
 * their schema is very small.
 *
 * @param form whether the schema describes the projected form of values, or the values themselves.
 */
export function emitSchema(root: Node, form: "projected" | "own" = "projected"): JsonSchema {
  const isOwn = form === "own";
  const nodes = countUses(root);
  const names = nameNodes([...nodes.keys()]);
  const definitions = new Map<Node, JsonSchema>();
  const open: Node[] = [];
  const define = (node: Node): JsonSchema => {
    if (node === root) return { $ref: "#" };
    if (!definitions.has(node)) {
      definitions.set(node, {});
      open.push(node);
    }
    return { $ref: `#/$defs/${names.get(node)}` };
  };

  const emitAt =
    (level: number): Emit =>
    (slot, levels) => {
      const { node } = slot;
      const isShared = node === root || (nodes.get(node) ?? 0) > 1;
      const isHoisted = (isShared || level + levels > LEVELS_INLINE) && !isSmall(node, isOwn);
      return addWords(isHoisted ? define(node) : emitNode(node, level + levels), slot.note);
    };
  const emitNode = ({ codec, description, bounds }: Node, level: number) => {
    // The description of any value explains its projected form.
    if (isOwn && codec.isAny) return {};
    const emit = emitAt(level);
    const schema = isOwn && codec.ownSchema ? codec.ownSchema(emit) : codec.schema(emit);
    return addWords(isOwn ? schema : { ...schema, ...bounds }, description);
  };

  const schema = emitNode(root, 1);
  for (let node = open.shift(); node !== undefined; node = open.shift())
    Object.assign(definitions.get(node) ?? {}, emitNode(node, 1));
  if (definitions.size === 0) return schema;
  const $defs = [...definitions].map(([node, definition]) => [names.get(node), definition]);
  return { ...schema, $defs: Object.fromEntries($defs) };
}

/** Counts how often each reachable node is used. */
export function countUses(root: Node): Map<Node, number> {
  const uses = new Map<Node, number>([[root, 1]]);
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop())
    for (const child of node.codec.children()) {
      const count = uses.get(child);
      uses.set(child, (count ?? 0) + 1);
      if (count === undefined) open.push(child);
    }
  return uses;
}

/** Maximum length of the description and bounds of a small schema that is written at each use. */
const WORDS_INLINE_MAX = 60;

/** Whether a node's schema is so small that a `$ref` to a shared definition would save nothing. */
function isSmall({ codec, description, bounds }: Node, isOwn: boolean): boolean {
  if (isOwn && codec.isAny) return true;
  if (!isOwn && description.length + JSON.stringify(bounds ?? {}).length > WORDS_INLINE_MAX) return false;
  const isShort = !("choices" in codec) || (Array.isArray(codec.choices) && codec.choices.length <= 1);
  return isShort && codec.children().length === 0 && !codec.outputs().kinds.has("object");
}

function nameNodes(nodes: readonly Node[]): Map<Node, string> {
  const chosen = chooseNames(nodes.map(({ name }) => name));
  return new Map(nodes.map((node, index) => [node, chosen[index] ?? ""]));
}
