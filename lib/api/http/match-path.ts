import type { Operation } from "../contract/operation.ts";
import { FILE_PATH, readFilePath } from "../contract/paths.ts";

/** The operations at a path, by method, and the values of the path's `:name` parts. */
type PathMatch<Name extends string> = {
  operations: Partial<Record<string, Name>>;
  params: Record<string, string>;
};

/**
 * A node in the tree of paths. `literal` has the child for each literal part, `parameter` the child for any other part,
 * and `operations` the operations whose path ends at this node.
 */
type PathNode<Name extends string> = {
  literal: Map<string, PathNode<Name>>;
  parameter?: { name: string; node: PathNode<Name> };
  operations?: Partial<Record<string, Name>>;
};

/**
 * Creates a function that finds the operations of a contract at a path. The path must be percent-encoded, as it is in
 * the URL. The function returns undefined if no operation has this path, for example because the path has an empty part
 * or a trailing slash. As in Next's router, a literal part takes precedence over a parameter, and only parameters are
 * decoded. The parameter `filePath` takes the whole rest of the path. The function throws a URIError if a parameter cannot be decoded.
 */
export function createPathMatcher<Name extends string>(
  contract: Record<Name, Operation>,
): (pathname: string) => PathMatch<Name> | undefined {
  const root: PathNode<Name> = { literal: new Map() };
  for (const name of Object.keys(contract) as Name[]) {
    const { method, path } = contract[name];
    const node = path.slice(1).split("/").reduce(descend, root);
    node.operations = { ...node.operations, [method]: name };
  }
  return (pathname) => {
    const params: Record<string, string> = {};
    let node: PathNode<Name> | undefined = root;
    const parts = pathname.slice(1).split("/");
    for (const [index, part] of parts.entries()) {
      const literal: PathNode<Name> | undefined = node.literal.get(part);
      const { parameter }: PathNode<Name> = node;
      if (!literal && parameter?.name === FILE_PATH) {
        const filePath = readFilePath(parts.slice(index));
        if (filePath === undefined) return undefined;
        params[FILE_PATH] = filePath;
        node = parameter.node;
        break;
      }
      if (!literal && parameter && part !== "") params[parameter.name] = decodeURIComponent(part);
      node = literal ?? (part === "" ? undefined : parameter?.node);
      if (!node) return undefined;
    }
    return node.operations && { operations: node.operations, params };
  };
}

/** Returns the child node for the next part of a path. Creates the child if it does not exist. */
function descend<Name extends string>(node: PathNode<Name>, part: string): PathNode<Name> {
  const created: PathNode<Name> = { literal: new Map() };
  if (part.startsWith(":")) {
    node.parameter ??= { name: part.slice(1), node: created };
    return node.parameter.node;
  }
  const child = node.literal.get(part) ?? created;
  node.literal.set(part, child);
  return child;
}
