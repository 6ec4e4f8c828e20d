/** The messages of the service to a script's child process, one JSON line each. */
export type ToChild =
  | {
      type: "run";
      script: string;
      /** Names of the functions that the page gets in addition to Playwright's. */
      helpers: string[];
      /** For each frame with refs, by its key (`f1`): the refs of the iframe elements around it, outermost first. */
      frames: Record<string, string[]>;
      /** Source of a selector engine that explains why an element cannot be acted on. */
      explainSource: string;
      actionTimeoutMs: number;
      logCharsMax: number;
      resultCharsMax: number;
    }
  | { type: "devtools"; message: object }
  /** Number of the session's tabs. The tabs other than the current one are announced after `connected`. */
  | { type: "pages"; count: number }
  /** A page offered a file for download; `path` is its path in the workspace. */
  | { type: "download"; url: string; name: string; path: string | null; failure: string | null }
  | { type: "answer"; id: number; ok: true; value: unknown }
  | { type: "answer"; id: number; ok: false; error: string };

/** The messages of the child. The child runs untrusted code, so its messages are not trusted. */
export type FromChild =
  | { type: "ready" }
  /** Playwright is connected to the current page. */
  | { type: "connected" }
  | { type: "devtools"; message: object }
  | { type: "log"; text: string }
  /** Whether the script listens for dialogs; sent when that changes. */
  | { type: "dialogs"; isListening: boolean }
  /** The script uses a ref. The service installs its element in the Playwright world before the script's next action. */
  | { type: "ref"; ref: string }
  /** A call of Playwright has begun, at a line and a column of the script. */
  | { type: "call"; id: number; name: string; line: number; column: number }
  /** The call has succeeded or failed. */
  | { type: "called"; id: number }
  /** Calls a function of the service. */
  | { type: "ask"; id: number; name: string; args: unknown[] }
  /** `json` is empty when the script returned nothing. */
  | { type: "done"; ok: true; json: string; cutFrom: number | null }
  | { type: "done"; ok: false; error: string; line: number | null; column: number | null };
