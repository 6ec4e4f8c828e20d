/** Name of the isolated world in which the overlay runs: it shares only the document with the page. */
export const OVERLAY_WORLD = "agent-session-overlay";

/** The function by which the overlay reports to the host; it exists in the overlay's world only. */
export const OVERLAY_BINDING = "agentSessionAnnotate";

/** The attribute of the overlay's host element, by which page queries exclude it. */
export const OVERLAY_ATTRIBUTE = "data-agent-session-overlay";

/** The overlay's handle in its world, for the host. */
export const OVERLAY_HANDLE = "agentSessionOverlay";
