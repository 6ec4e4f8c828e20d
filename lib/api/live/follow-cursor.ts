/** Asks for the page's cursor where a viewer's pointer is. */
type CursorFollower = { moveTo: (x: number, y: number) => void; stop: () => void };

const EVERY_MS = 100;

/**
 * Follows a pointer over the page: at most ten times a second, one question at a time, the last position always among
 * them. `tell` hears the CSS keyword when it is another one than before.
 */
export function followCursor(
  read: (x: number, y: number) => Promise<string>,
  tell: (cursor: string) => void,
  schedule: (callback: () => void, delayMs: number) => unknown = (callback, delayMs) =>
    setTimeout(callback, delayMs).unref(),
): CursorFollower {
  let next: { x: number; y: number } | undefined;
  let told: string | undefined;
  let isBusy = false;
  let isStopped = false;

  async function ask(): Promise<void> {
    const at = next;
    next = undefined;
    if (!at || isStopped) {
      isBusy = false;
      return;
    }
    isBusy = true;
    const cursor = await read(at.x, at.y).catch(() => "default");
    if (!isStopped && cursor !== told) tell(cursor);
    told = cursor;
    schedule(() => void ask(), EVERY_MS);
  }

  return {
    moveTo(x, y) {
      next = { x, y };
      if (!isBusy) void ask();
    },
    stop() {
      isStopped = true;
    },
  };
}
