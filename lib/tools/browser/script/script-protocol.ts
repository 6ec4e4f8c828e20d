/** What the service sends to a script's child process, one JSON line each. */
export type ToChild =
  | {
      type: "run";
      script: string;
      /** Names of the functions that the page gets in addition to Playwright's. */
      helpers: string[];
      /** For each frame that holds refs, by its key (`f1`), the refs of the iframe elements that lead to it, outermost first. */
      frames: Record<string, string[]>;
      actionTimeoutMs: number;
      logCharsMax: number;
      resultCharsMax: number;
    }
  | { type: "devtools"; message: object }
  | { type: "helper"; id: number; ok: true; value: unknown }
  | { type: "helper"; id: number; ok: false; error: string };

/** What the child sends back. The child runs foreign code, so its messages are not trusted. */
export type FromChild =
  | { type: "ready" }
  | { type: "devtools"; message: object }
  | { type: "log"; text: string }
  /** Whether the script listens for dialogs; sent when that changes. */
  | { type: "dialogs"; isListening: boolean }
  /** The script uses a ref: its element is made known to the page's Playwright world before what the script does next. */
  | { type: "ref"; ref: string }
  | { type: "helper"; id: number; name: string; args: unknown[] }
  | { type: "done"; ok: true; json: string; cutFrom: number | null }
  | { type: "done"; ok: false; error: string; line: number | null };
