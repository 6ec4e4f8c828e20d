/**
 * Returns the date that is `delayMs` from now, for `step.sleepUntil`. (`step.sleep` would round the delay up to whole
 * seconds.) The embedded engine converts the date back to a delay at once, so that a later jump of the clock has no
 * effect.
 */
export const momentAfter = (delayMs: number): Date => new Date(Date.now() + delayMs);
