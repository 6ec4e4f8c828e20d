import type { LandingPage } from "./view-types.ts";

/** Adds or replaces a landing page, unless the state contains a newer version of the page. */
export function mergePage(pages: LandingPage[], page: LandingPage): LandingPage[] {
  const index = pages.findIndex(({ slug }) => slug === page.slug);
  const existing = pages[index];
  if (!existing) return [...pages, page];
  // An answer to an action of this visitor may have updated the state before an older event arrives.
  return existing.updatedAt > page.updatedAt ? pages : pages.with(index, page);
}
