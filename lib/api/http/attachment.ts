/**
 * Returns the `Content-Disposition` of a response that browsers save as a file. The name must be ASCII without quotes.
 */
export const attachment = (filename: string): string => `attachment; filename="${filename}"`;

/**
 * Returns a `Content-Disposition` with any file name. Clients that do not read `filename*` get a name in ASCII. Source:
 * RFC 6266.
 */
export function dispositionOf(kind: "inline" | "attachment", filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
