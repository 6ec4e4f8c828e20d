/**
 * The moment to sleep until for a sleep of this length: the SDK rounds the length of a sleep up to whole seconds. The
 * embedded engine takes it back to a length at once, so that a clock that jumps afterwards changes nothing.
 */
export const momentAfter = (delayMs: number): Date => new Date(Date.now() + delayMs);
