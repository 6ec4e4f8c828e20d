type Node = Record<string, unknown>;

const COMBINED = ["allOf", "anyOf", "oneOf"] as const;
const CONDITIONAL = ["then", "else"] as const;
/** Maximum number of schemas that are considered for one value. */
const SCHEMAS_MAX = 400;

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Returns a function that says whether the schema fixes the value at a path with `enum` or `const`. Follows local
 * references. It over-approximates the schemas of a value: a branch of a union counts even if the value does not match it.
 */
export function findFixed(schema: unknown): (path: (string | number)[], value: unknown) => boolean {
  const known = new Map<string, Node[]>([["", expand([schema], schema)]]);
  const schemasOf = (path: (string | number)[]): Node[] => {
    const key = path.map((step) => (typeof step === "number" ? "/*" : `/${step}`)).join("");
    const found = known.get(key);
    if (found) return found;
    const step = path.at(-1);
    const below = schemasOf(path.slice(0, -1)).flatMap((node) => stepInto(node, step));
    const schemas = expand(below, schema);
    known.set(key, schemas);
    return schemas;
  };
  return (path, value) =>
    schemasOf(path).some(
      (node) =>
        node.const === value || (Array.isArray(node.enum) && node.enum.some((choice) => choice === value)),
    );
}

function stepInto(node: Node, step: string | number | undefined): unknown[] {
  if (typeof step === "number")
    return [
      ...(Array.isArray(node.prefixItems) ? node.prefixItems : []),
      ...(Array.isArray(node.items) ? node.items : [node.items]),
      node.additionalItems,
    ];
  const properties = isNode(node.properties) ? node.properties : {};
  const name = step ?? "";
  if (Object.hasOwn(properties, name)) return [properties[name]];
  const patterns = isNode(node.patternProperties) ? Object.values(node.patternProperties) : [];
  return [...patterns, node.additionalProperties];
}

/** Adds what the schemas refer to and combine. */
function expand(schemas: unknown[], root: unknown): Node[] {
  const found = new Set<Node>();
  const open = [...schemas];
  while (open.length > 0 && found.size < SCHEMAS_MAX) {
    const node = open.pop();
    if (!isNode(node) || found.has(node)) continue;
    found.add(node);
    if (typeof node.$ref === "string") open.push(follow(node.$ref, root));
    for (const word of COMBINED) if (Array.isArray(node[word])) open.push(...node[word]);
    for (const word of CONDITIONAL) open.push(node[word]);
  }
  return [...found];
}

function follow(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return undefined;
  let node: unknown = root;
  for (const step of reference.slice(1).split("/").slice(1)) {
    if (typeof node !== "object" || node === null) return undefined;
    const name = safeDecode(step).replaceAll("~1", "/").replaceAll("~0", "~");
    node = Object.hasOwn(node, name) ? (node as Node)[name] : undefined;
  }
  return node;
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
