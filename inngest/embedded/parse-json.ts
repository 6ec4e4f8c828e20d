/** The value of a JSON text, null for an empty one, or the text itself when it is no JSON. */
export function parseJson(text: string): unknown {
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
