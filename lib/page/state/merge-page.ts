import type { LandingPage } from "./view-types.ts";

/** Adds a landing page or replaces what is known of it, unless that is newer. */
export function mergePage(pages: LandingPage[], page: LandingPage): LandingPage[] {
  const index = pages.findIndex(({ slug }) => slug === page.slug);
  const known = pages[index];
  if (!known) return [...pages, page];
  // An answer of this page may be newer than the event that arrives after it.
  return known.updatedAt > page.updatedAt ? pages : pages.with(index, page);
}
