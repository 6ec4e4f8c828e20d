import type { LandingPage } from "#lib/events/event.ts";
import { pageUrl } from "./page-address.ts";
import type { PageWithVersion } from "./page-store.ts";

/**
 * Converts a stored page to the shape in which the API shows it.
 *
 * @param pagesOrigin the public origin of pages, without a trailing slash
 */
export const toLandingPage = (pagesOrigin: string, { page, version }: PageWithVersion): LandingPage => ({
  slug: page.slug,
  url: pageUrl(pagesOrigin, page.slug),
  version: version?.number ?? null,
  newestVersion: page.newestVersion,
  files: version?.fileCount ?? null,
  bytes: version?.sizeBytes ?? null,
  note: version?.note ?? null,
  updatedAt: page.updatedAt.toISOString(),
});
