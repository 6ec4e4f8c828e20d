/** Media types of common file names. Every other name is `application/octet-stream`. */
const TYPES = new Map(
  Object.entries({
    "text/plain":
      "txt log env ini conf cfg toml gitignore sh bash zsh ps1 bat c h cpp hpp cc java kt go rs rb php pl lua swift sql r diff patch",
    "text/markdown": "md markdown",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "text/html": "html htm xhtml",
    "text/css": "css scss less",
    "text/javascript": "js mjs cjs jsx",
    "text/typescript": "ts mts cts tsx",
    "text/x-python": "py",
    "application/json": "json jsonl ndjson map webmanifest",
    "application/yaml": "yml yaml",
    "application/xml": "xml rss atom",
    "image/svg+xml": "svg",
    "image/png": "png",
    "image/jpeg": "jpg jpeg",
    "image/webp": "webp",
    "image/gif": "gif",
    "image/avif": "avif",
    "application/pdf": "pdf",
    "application/zip": "zip",
    "application/gzip": "gz tgz",
    "video/mp4": "mp4",
    "video/webm": "webm",
    "audio/mpeg": "mp3",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
  }).flatMap(([type, extensions]) => extensions.split(" ").map((extension) => [extension, type] as const)),
);

/** Returns the media type of a file according to its name. Its content may be something else. */
export const mediaTypeOf = (path: string): string =>
  TYPES.get(/\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "") ?? "application/octet-stream";
