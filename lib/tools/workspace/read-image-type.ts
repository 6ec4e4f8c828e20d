/**
 * Returns the media type of a picture according to its first bytes, regardless of the file's name. Undefined for other
 * files.
 */
export function readImageType(
  bytes: Uint8Array,
): "image/png" | "image/jpeg" | "image/webp" | "image/gif" | undefined {
  const start = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (start.startsWith("RIFF") && start.endsWith("WEBP")) return "image/webp";
  if (start.startsWith("GIF87a") || start.startsWith("GIF89a")) return "image/gif";
  return undefined;
}
