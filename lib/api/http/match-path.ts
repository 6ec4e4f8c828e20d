import type { Operation } from "../contract/operation.ts";

/** What stands at a path, by method, and what its `:name` parts are. */
type PathMatch<Name extends string> = {
  operations: Partial<Record<string, Name>>;
  params: Record<string, string>;
};

/** A place in the tree of paths: what follows literally, what follows as a parameter, and what stands here. */
type Place<Name extends string> = {
  literal: Map<string, Place<Name>>;
  parameter?: { name: string; place: Place<Name> };
  operations?: Partial<Record<string, Name>>;
};

/**
 * Makes the lookup from a path to the operations of a contract, once. It takes a path as the URL has it, still encoded;
 * undefined for one that no operation is described at, with a slash too many or an empty part above all. As in Next's
 * router a literal part goes before a parameter, and only parameters are decoded.
 */
export function createPathMatcher<Name extends string>(
  contract: Record<Name, Operation>,
): (pathname: string) => PathMatch<Name> | undefined {
  const root: Place<Name> = { literal: new Map() };
  for (const name of Object.keys(contract) as Name[]) {
    const { method, path } = contract[name];
    const place = path.slice(1).split("/").reduce(descend, root);
    place.operations = { ...place.operations, [method]: name };
  }
  return (pathname) => {
    const params: Record<string, string> = {};
    let place: Place<Name> | undefined = root;
    for (const part of pathname.slice(1).split("/")) {
      const literal: Place<Name> | undefined = place.literal.get(part);
      const { parameter }: Place<Name> = place;
      if (!literal && parameter && part !== "") params[parameter.name] = decodeURIComponent(part);
      place = literal ?? (part === "" ? undefined : parameter?.place);
      if (!place) return undefined;
    }
    return place.operations && { operations: place.operations, params };
  };
}

/** The place of a path's next part, made where it is new. */
function descend<Name extends string>(place: Place<Name>, part: string): Place<Name> {
  const made: Place<Name> = { literal: new Map() };
  if (part.startsWith(":")) {
    place.parameter ??= { name: part.slice(1), place: made };
    return place.parameter.place;
  }
  const next = place.literal.get(part) ?? made;
  place.literal.set(part, next);
  return next;
}
