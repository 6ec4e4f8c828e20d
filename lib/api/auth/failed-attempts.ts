import { LRUCache } from "lru-cache";
import { type AddressRange, type Client, readClientSubject } from "../http/client-address.ts";
import { type Failure, fail } from "../http/errors.ts";

/**
 * Limits how often a client may present wrong credentials. Credentials are checked first, and only refused ones are
 * counted. A valid credential therefore always works, and people who share an address cannot lock each other out.
 */
export type FailedAttempts = {
  /**
   * Counts a refused credential. @returns the 429 to answer with if the client is over the limit, otherwise undefined.
   */
  count: (client: Client) => Failure | undefined;
  /** Counts a refused credential. @returns the answer: `refusal`, or a 429 if the client is over the limit. */
  refuse: (client: Client, refusal: Failure) => Failure;
};

const WINDOW_MS = 60_000;
const CLIENTS_MAX = 10_000;

/**
 * Creates the limit in the memory of this process. It allows at most `limit` failures of a client within any 60
 * seconds. When the memory is full, the client whose last failure is the oldest is evicted. A client without a known
 * address is not limited. Source: `security.md`, Failed authentications.
 *
 * @param options.limit 0 turns the limit off.
 * @param options.onThrottled called for each refused credential that is answered with 429.
 * @param options.now a monotonic clock, in milliseconds.
 */
export function createFailedAttempts(options: {
  limit: number;
  trustedProxies: readonly AddressRange[];
  onThrottled?: () => void;
  now?: () => number;
}): FailedAttempts {
  const { limit, trustedProxies, onThrottled = () => {}, now = () => performance.now() } = options;
  /** Times of the counted failures of each client, oldest first. */
  const failures = new LRUCache<string, number[]>({ max: CLIENTS_MAX });

  function count(client: Client): Failure | undefined {
    if (limit === 0) return undefined;
    const subject = readClientSubject(client, trustedProxies);
    if (subject === undefined) return undefined;
    const at = now();
    const recent = (failures.get(subject) ?? []).filter((time) => at - time < WINDOW_MS);
    failures.set(subject, recent);
    const [oldest] = recent;
    if (recent.length >= limit && oldest !== undefined) {
      onThrottled();
      return refuseFor(oldest + WINDOW_MS - at);
    }
    recent.push(at);
    return undefined;
  }

  return { count, refuse: (client, refusal) => count(client) ?? refusal };
}

function refuseFor(waitMs: number): Failure {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return fail(
    "rate_limited",
    `too many failed authentications from this address; try again in ${seconds} s`,
    {
      "Retry-After": String(seconds),
    },
  );
}
