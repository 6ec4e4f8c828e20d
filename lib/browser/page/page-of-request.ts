import type { Page, Request } from "playwright";

/**
 * Returns the page of a request. Undefined if a service worker made the request, or if Playwright has not announced the
 * page.
 */
export function pageOf(request: Request): Page | undefined {
  try {
    return request.serviceWorker() ? undefined : request.frame().page();
  } catch {
    return undefined;
  }
}
