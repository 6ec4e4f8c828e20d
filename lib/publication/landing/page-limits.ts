const MEBIBYTE = 1_048_576;

/** Limits of a landing page. `bytes` is the total size of its files. Source: `wire.md`, Landing pages. */
export const PAGE_LIMITS = {
  files: 500,
  bytes: 20 * MEBIBYTE,
  fileBytes: 10 * MEBIBYTE,
  pathCharacters: 300,
  /**
   * Maximum number of stored versions of a page. The oldest versions are removed first. The current version is never
   * removed.
   */
  versions: 50,
  /** Maximum number of pages of a session. A page counts for the session that was the last to deploy it. */
  pagesOfSession: 50,
} as const;
