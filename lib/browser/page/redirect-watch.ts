/**
 * Decides whether a new address still counts as a redirect of the last retarget (a client's request to show another page).
 * It does if the page itself navigates, by a script or a `meta refresh`, right after the retarget reached its page.
 * `lastNavigatedUrl` then stays the requested URL.
 */
export type RedirectWatch = {
  /** Starts the time in which new addresses count as redirects: a retarget has begun, or has reached a document. */
  begin: () => void;
  /** Limits that time to one more second, because the page has loaded. */
  loaded: () => void;
  /** Ends that time, for example because the agent or a person used the page. */
  end: () => void;
  /** Whether a new address now counts as a redirect. */
  isOpen: () => boolean;
};

const BEFORE_LOAD_MS = 30_000;
const AFTER_LOAD_MS = 1_000;

/** @see RedirectWatch; `nowMs` returns the current time in milliseconds. */
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
