/** Reads the cursor that the page shows at the position of a viewer's pointer. */
type CursorFollower = { moveTo: (x: number, y: number) => void; stop: () => void };

const EVERY_MS = 100;

/**
 * Reads the page's cursor at the position of a moving pointer, one read at a time and at most ten times per second. The
 * last position is always read. Calls `onChange` with the CSS keyword of the cursor when it changes.
 */
export function followCursor(
  read: (x: number, y: number) => Promise<string>,
  onChange: (cursor: string) => void,
  schedule: (callback: () => void, delayMs: number) => unknown = (callback, delayMs) =>
    setTimeout(callback, delayMs).unref(),
): CursorFollower {
  let next: { x: number; y: number } | undefined;
  let lastCursor: string | undefined;
  let isBusy = false;
  let isStopped = false;

  async function readNext(): Promise<void> {
    const at = next;
    next = undefined;
    if (!at || isStopped) {
      isBusy = false;
      return;
    }
    isBusy = true;
    const cursor = await read(at.x, at.y).catch(() => "default");
    if (!isStopped && cursor !== lastCursor) onChange(cursor);
    lastCursor = cursor;
    schedule(() => void readNext(), EVERY_MS);
  }

  return {
    moveTo(x, y) {
      next = { x, y };
      if (!isBusy) void readNext();
    },
    stop() {
      isStopped = true;
    },
  };
}
