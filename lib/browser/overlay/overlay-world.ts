/** Name of the isolated world in which the overlay lives: pages share the document with it, and nothing else. */
export const OVERLAY_WORLD = "agent-session-overlay";

/** The function by which the overlay reports to the host; it exists in the overlay's world alone. */
export const OVERLAY_BINDING = "agentSessionAnnotate";

/** The attribute by which the overlay's host element is known, so that page queries can leave it out. */
export const OVERLAY_ATTRIBUTE = "data-agent-session-overlay";

/** The overlay's handle in its world, for the host. */
export const OVERLAY_HANDLE = "agentSessionOverlay";
