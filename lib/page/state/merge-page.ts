import type { LandingPage } from "./view-types.ts";

/** Adds or replaces a landing page, unless the state has a newer version of it. */
export function mergePage(pages: LandingPage[], page: LandingPage): LandingPage[] {
  const index = pages.findIndex(({ slug }) => slug === page.slug);
  const existing = pages[index];
  if (!existing) return [...pages, page];
  // The answer to an action of this visitor may be newer than an event that arrives after it.
  return existing.updatedAt > page.updatedAt ? pages : pages.with(index, page);
}
