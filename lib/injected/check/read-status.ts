import type { PageWatch } from "./page-watch.ts";

/**
 * Reads the status with which an address answers. Null if it cannot be requested.
 */
export async function readStatus(
  _watch: PageWatch,
  { url, method, timeoutMs }: { url: string; method: string; timeoutMs: number },
): Promise<number | null> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { method, credentials: "same-origin", signal });
    await response.body?.cancel();
    return response.status;
  } catch {
    return null;
  }
}
