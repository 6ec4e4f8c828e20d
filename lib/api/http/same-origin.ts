const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Whether a host name of a URL leads to this machine. */
export const isLoopbackHost = (hostname: string): boolean => LOOPBACK.has(hostname);

/** Whether an origin is this service's: its public one, or the same port under another name of this machine. */
export function isSameService(origin: string, baseUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const [given, own] = [new URL(origin), new URL(baseUrl)];
  if (given.origin === own.origin) return true;
  return (
    given.protocol === own.protocol &&
    given.port === own.port &&
    LOOPBACK.has(given.hostname) &&
    LOOPBACK.has(own.hostname)
  );
}

/** Whether a `Host` header names this service; any other is a rebinding name or a mistake. */
export const isOwnHost = (host: string | undefined, baseUrl: string): boolean =>
  host !== undefined && isSameService(`${new URL(baseUrl).protocol}//${host}`, baseUrl);
