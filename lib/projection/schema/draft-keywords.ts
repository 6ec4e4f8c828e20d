const since2019 =
  "dependentRequired dependentSchemas unevaluatedItems unevaluatedProperties minContains maxContains contentSchema $recursiveRef";
const since2020 = "prefixItems $dynamicRef";

const keywords = (...lists: string[]): ReadonlySet<string> => new Set(lists.join(" ").split(" "));

/** For each draft, the keywords of other drafts that this draft ignores. */
export const ignoredKeywords = {
  "draft-04": keywords("const contains propertyNames if then else", since2019, since2020),
  "draft-06": keywords("if then else", since2019, since2020),
  "draft-07": keywords(since2019, since2020),
  "2019-09": keywords(since2020),
  "2020-12": keywords("additionalItems $recursiveRef"),
} as const;

export type DraftName = keyof typeof ignoredKeywords;
