/**
 * The time after this delay, for `step.sleepUntil`, because `step.sleep` rounds delays up to whole seconds. The embedded
 * engine converts it back to a delay at once, so a later jump of the clock has no effect.
 */
export const momentAfter = (delayMs: number): Date => new Date(Date.now() + delayMs);
