/**
 * Decides whether an arrival is still a redirect of the last retarget: a page that sends its visitor on by itself (a
 * script, a `meta refresh`) right after the retarget landed. `lastNavigatedUrl` then stays the URL as requested.
 */
export type RedirectWatch = {
  /** A retarget is in progress, or one of its documents was reached. */
  begin: () => void;
  /** The page has loaded; a redirect by the page itself follows within a moment. */
  loaded: () => void;
  /** The agent or a person used the page: later arrivals are theirs. */
  end: () => void;
  /** Whether an arrival now is a redirect. */
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
