import { type DraftName, ignoredKeywords } from "./draft-keywords.ts";

/** How a draft interprets the keywords that determine the shape of values. */
export type Dialect = {
  idKeyword: "id" | "$id";
  /** Whether keywords next to a `$ref` are ignored, as in all drafts up to draft-07. */
  ignoresRefSiblings: boolean;
  ignoredKeywords: ReadonlySet<string>;
  /** The keyword that lists the schemas of a list's first items. */
  tupleKeyword: "items" | "prefixItems";
  hasUnevaluated: boolean;
};

const until07 = {
  idKeyword: "$id",
  ignoresRefSiblings: true,
  tupleKeyword: "items",
  hasUnevaluated: false,
} as const;
const since2019 = { ...until07, ignoresRefSiblings: false, hasUnevaluated: true } as const;

const dialects: Record<DraftName, Dialect> = {
  "draft-04": { ...until07, idKeyword: "id", ignoredKeywords: ignoredKeywords["draft-04"] },
  "draft-06": { ...until07, ignoredKeywords: ignoredKeywords["draft-06"] },
  "draft-07": { ...until07, ignoredKeywords: ignoredKeywords["draft-07"] },
  "2019-09": { ...since2019, ignoredKeywords: ignoredKeywords["2019-09"] },
  "2020-12": { ...since2019, tupleKeyword: "prefixItems", ignoredKeywords: ignoredKeywords["2020-12"] },
};

/**
 * Returns the dialect of the draft that an admitted schema's `$schema` names, or of draft 2020-12 if there is no
 * `$schema`.
 */
export function findDialect($schema: unknown): Dialect {
  if (typeof $schema !== "string") return dialects["2020-12"];
  const found = Object.entries(dialects).find(([name]) => $schema.includes(`/${name}/`));
  return found?.[1] ?? dialects["2020-12"];
}
