/** Limits the rate of attempts at each host. Each attempt gets a slot: a time at which one attempt may begin. */
export type EndpointPace = {
  /**
   * Reserves the next free slot of a host for a delivery. Later calls for the same delivery return the rest of the
   * wait.
   *
   * @returns milliseconds to wait before the next call; 0 if the attempt may begin now, which uses up the slot.
   */
  reserve: (host: string, deliveryId: string) => number;
};

/** After a time without attempts, a host gets as many attempts at once as the rate allows in this many milliseconds. */
const BURST_MS = 10_000;
/** The longest wait that `reserve` returns. After a much longer wait, the delivery would be treated as lost. */
const WAIT_MS_MAX = 5 * 60_000;
/** When `freeAt` or `slots` has more entries than this, the entries that are no longer needed are removed. */
const ENTRIES_MAX = 10_000;
/** A slot is no longer needed if it is still unused this long after its time, because its delivery must be gone. */
const UNUSED_AFTER_MS = 30 * 60_000;

/**
 * Creates the rate limit of one process. Deliveries over the rate wait in order of arrival, and none is dropped. A
 * restart loses the slots, but no deliveries. Source: `configuration.md`, Variables, `RATE_LIMIT_CALLBACK`.
 *
 * @param perMinute attempts per minute and host; 0 is unlimited.
 * @param now a monotonic clock in milliseconds.
 */
export function createEndpointPace(
  perMinute: number,
  now: () => number = () => performance.now(),
): EndpointPace & { entries: () => { hosts: number; slots: number } } {
  /** The time of the next free slot of each host, on the clock `now`. */
  const freeAt = new Map<string, number>();
  /** The slots of waiting deliveries by delivery id, as times on the clock `now`. */
  const slots = new Map<string, number>();

  function reserveSlot(host: string, at: number): number {
    const slot = Math.max(freeAt.get(host) ?? 0, at - BURST_MS);
    freeAt.set(host, slot + 60_000 / perMinute);
    return slot;
  }

  function prune(at: number): void {
    if (freeAt.size > ENTRIES_MAX)
      for (const [host, free] of freeAt) if (free <= at - BURST_MS) freeAt.delete(host);
    if (slots.size > ENTRIES_MAX)
      for (const [id, slot] of slots) if (slot <= at - UNUSED_AFTER_MS) slots.delete(id);
  }

  return {
    /** Returns how many hosts and waiting deliveries are in memory. */
    entries: () => ({ hosts: freeAt.size, slots: slots.size }),
    reserve(host, deliveryId) {
      if (perMinute === 0) return 0;
      const at = now();
      prune(at);
      const slot = slots.get(deliveryId) ?? reserveSlot(host, at);
      if (slot <= at) {
        slots.delete(deliveryId);
        return 0;
      }
      slots.set(deliveryId, slot);
      return Math.min(Math.ceil(slot - at), WAIT_MS_MAX);
    },
  };
}
