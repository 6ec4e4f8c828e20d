import type { ServerResponse } from "node:http";

const UNREAD_BYTES_MAX = 256 * 2 ** 20;

/**
 * Bounds the memory of complete answers that wait for their clients. Each waits until its client has read it or
 * `stalledMs` have passed without progress. If all together have more than `bytesMax` bytes, those that have waited
 * longest are broken off.
 */
export function createUnreadAnswers(stalledMs: number, bytesMax: number = UNREAD_BYTES_MAX) {
  /** The unsent bytes of each answer when it was complete. The answer that has waited longest comes first. */
  const waiting = new Map<ServerResponse, number>();
  let total = 0;

  const forget = (response: ServerResponse) => {
    total -= waiting.get(response) ?? 0;
    waiting.delete(response);
  };
  return {
    /** Follows an answer. Call this before the answer is written. */
    follow(response: ServerResponse): void {
      response.once("prefinish", () => {
        response.setTimeout(stalledMs, () => response.destroy());
        waiting.set(response, response.writableLength);
        total += response.writableLength;
        for (const slowest of waiting.keys()) {
          if (total <= bytesMax || slowest === response) break;
          forget(slowest);
          slowest.destroy();
        }
      });
      response.once("close", () => forget(response));
    },
  };
}
