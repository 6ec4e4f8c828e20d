const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Whether the host name of a URL is a loopback name. */
export const isLoopbackHost = (hostname: string): boolean => LOOPBACK.has(hostname);

/**
 * Whether an origin belongs to this service. The public origin does. If the public origin is a loopback origin, the
 * same port under another loopback name does too.
 */
export function isSameService(origin: string, baseUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const [other, own] = [new URL(origin), new URL(baseUrl)];
  if (other.origin === own.origin) return true;
  return (
    other.protocol === own.protocol &&
    other.port === own.port &&
    LOOPBACK.has(other.hostname) &&
    LOOPBACK.has(own.hostname)
  );
}

/** Whether a `Host` header names this service. A request with another name may be a DNS rebinding attack. */
export const isOwnHost = (host: string | undefined, baseUrl: string): boolean =>
  host !== undefined && isSameService(`${new URL(baseUrl).protocol}//${host}`, baseUrl);
