const MEBIBYTE = 1_048_576;

/** Limits of a landing page. Sizes in bytes. Source: `wire.md`, Landing pages. */
export const PAGE_LIMITS = {
  files: 500,
  bytes: 20 * MEBIBYTE,
  fileBytes: 10 * MEBIBYTE,
  pathCharacters: 300,
  /** Older versions are removed, but never the current one. */
  versions: 50,
  /** Pages whose newest deploy was made by one session. */
  pagesOfSession: 50,
} as const;
