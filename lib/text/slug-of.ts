/** The letters and digits of a title in lower case without accents, with hyphens between its words. It may be empty. */
export const slugOf = (title: string, charactersMax: number): string =>
  title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, charactersMax)
    .replace(/^-+|-+$/g, "");
