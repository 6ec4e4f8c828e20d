/**
 * Makes a slug from a title: lower-case letters and digits without accents, with hyphens between words. The slug may be
 * empty.
 */
export const slugOf = (title: string, charactersMax: number): string =>
  title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, charactersMax)
    .replace(/^-+|-+$/g, "");
