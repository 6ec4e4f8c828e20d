const MEBIBYTE = 1_048_576;

/** Limits of a landing page. `bytes` is the total of all files. Source: `wire.md`, Landing pages. */
export const PAGE_LIMITS = {
  files: 500,
  bytes: 20 * MEBIBYTE,
  fileBytes: 10 * MEBIBYTE,
  pathCharacters: 300,
  /** Number of versions that are kept. Older ones are removed, except the current one. */
  versions: 50,
  /** Number of pages whose newest version was deployed by the same session. */
  pagesOfSession: 50,
} as const;
