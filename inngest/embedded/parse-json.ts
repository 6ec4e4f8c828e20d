/** Parses a JSON text. Returns null for an empty text, and the text itself if it is not JSON. */
export function parseJson(text: string): unknown {
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
