/**
 * Tells a page that sends its visitor on by itself (a script, a `meta refresh`) right after a retarget landed from
 * one that somebody moves on: the former is still a redirect of the retarget, and `lastNavigatedUrl` stays the URL
 * as requested. Source: `wire.md`, Browser, "redirects included".
 */
type RedirectWatch = {
  /** A retarget is under way, or a document of it was reached. */
  begin: () => void;
  /** The page has loaded; a redirect that it has in mind comes within a moment. */
  loaded: () => void;
  /** The agent or a person acts: what comes now is their doing. */
  end: () => void;
  isOpen: () => boolean;
};

const BEFORE_LOAD_MS = 30_000;
const AFTER_LOAD_MS = 1_000;

/** @see RedirectWatch; `nowMs` is the clock, in milliseconds. */
export function createRedirectWatch(nowMs: () => number): RedirectWatch {
  let openUntilMs = 0;
  return {
    begin() {
      openUntilMs = nowMs() + BEFORE_LOAD_MS;
    },
    loaded() {
      if (openUntilMs > nowMs()) openUntilMs = nowMs() + AFTER_LOAD_MS;
    },
    end() {
      openUntilMs = 0;
    },
    isOpen: () => openUntilMs > nowMs(),
  };
}
