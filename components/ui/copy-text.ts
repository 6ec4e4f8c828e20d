/** Copies a text. @returns whether the browser did so: it may refuse, and a page without TLS has no clipboard at all. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
