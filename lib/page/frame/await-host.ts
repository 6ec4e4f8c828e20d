/** How long the host page may take to say hello. After that, the frame says what it waits for. */
const HELLO_WITHIN_MS = 5_000;

/**
 * Waits until a frame knows whether the page around it may show it.
 *
 * @param allowed resolves once the origin of that page is known.
 * @param onLate is called if that takes long. The page may still say hello afterwards.
 */
export async function awaitHost(allowed: Promise<boolean>, onLate: () => void): Promise<boolean> {
  const timer = setTimeout(onLate, HELLO_WITHIN_MS);
  try {
    return await allowed;
  } finally {
    clearTimeout(timer);
  }
}
