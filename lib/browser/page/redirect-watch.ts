/**
 * Decides whether a new address of the page counts as a redirect of the last retarget (a client's request to show
 * another page). A page often navigates by itself, with a script or a `meta refresh`, soon after it was reached. Such a
 * redirect does not change `lastNavigatedUrl`, which stays the requested URL.
 */
export type RedirectWatch = {
  /**
   * Starts a period of 30 s in which new addresses count as redirects. Call it at a retarget, and again at each
   * redirect.
   */
  begin: () => void;
  /** Shortens a running period for redirects to one more second. Call it when the page has loaded. */
  loaded: () => void;
  /** Ends the period for redirects. Call it, for example, when the agent or a person has used the page. */
  end: () => void;
  /** Whether a new address now counts as a redirect. */
  isOpen: () => boolean;
};

const BEFORE_LOAD_MS = 30_000;
const AFTER_LOAD_MS = 1_000;

/** Creates a {@link RedirectWatch}. `nowMs` returns the current time in milliseconds. */
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
