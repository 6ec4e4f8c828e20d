/** What a draft means by keywords that change the shape of values. */
export type Dialect = {
  idKeyword: "id" | "$id";
  /** Up to draft-07 a `$ref` makes its siblings void. */
  ignoresRefSiblings: boolean;
  /** The keyword that lists the schemas of a list's first items. */
  tupleKeyword: "items" | "prefixItems";
  hasUnevaluated: boolean;
};

const old: Dialect = {
  idKeyword: "$id",
  ignoresRefSiblings: true,
  tupleKeyword: "items",
  hasUnevaluated: false,
};
const recent: Dialect = { ...old, ignoresRefSiblings: false, hasUnevaluated: true };
const latest: Dialect = { ...recent, tupleKeyword: "prefixItems" };

const dialects: readonly [name: string, dialect: Dialect][] = [
  ["draft-04", { ...old, idKeyword: "id" }],
  ["draft-06", old],
  ["draft-07", old],
  ["2019-09", recent],
];

/** The dialect that an admitted schema's `$schema` names; 2020-12 when there is none. */
export function findDialect($schema: unknown): Dialect {
  if (typeof $schema !== "string") return latest;
  return dialects.find(([name]) => $schema.includes(`/${name}/`))?.[1] ?? latest;
}
