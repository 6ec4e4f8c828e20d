/**
 * Decides whether a new address is still a redirect of the last retarget: right after the retarget landed, the page itself
 * (a script, a `meta refresh`) navigates on. `lastNavigatedUrl` then stays the requested URL.
 */
export type RedirectWatch = {
  /** A retarget is in progress, or one of its documents was reached. */
  begin: () => void;
  /** The page has loaded; a redirect by the page itself follows within a moment. */
  loaded: () => void;
  /** The agent or a person used the page, so they cause later arrivals. */
  end: () => void;
  /** Whether a new address now counts as a redirect. */
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
