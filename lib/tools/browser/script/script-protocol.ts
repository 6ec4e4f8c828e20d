/** What the service sends to a script's child process, one JSON line each. */
export type ToChild =
  | {
      type: "run";
      script: string;
      /** Names of the functions that the page gets in addition to Playwright's. */
      helpers: string[];
      /** For each frame that holds refs, by its key (`f1`), the refs of the iframe elements that lead to it, outermost first. */
      frames: Record<string, string[]>;
      /** A selector engine, as source, that tells why an element cannot be acted on. */
      explainSource: string;
      actionTimeoutMs: number;
      logCharsMax: number;
      resultCharsMax: number;
    }
  | { type: "devtools"; message: object }
  /** How many tabs the session has; those beside the current one are announced since `connected`. */
  | { type: "pages"; count: number }
  /** A page offered a file; `path` is where it is stored in the workspace. */
  | { type: "download"; url: string; name: string; path: string | null; failure: string | null }
  | { type: "answer"; id: number; ok: true; value: unknown }
  | { type: "answer"; id: number; ok: false; error: string };

/** What the child sends back. The child runs foreign code, so its messages are not trusted. */
export type FromChild =
  | { type: "ready" }
  /** Playwright is connected to the current page. */
  | { type: "connected" }
  | { type: "devtools"; message: object }
  | { type: "log"; text: string }
  /** Whether the script listens for dialogs; sent when that changes. */
  | { type: "dialogs"; isListening: boolean }
  /** The script uses a ref: its element is made known to the page's Playwright world before what the script does next. */
  | { type: "ref"; ref: string }
  /** A call of Playwright has begun, at a line and a column of the script. */
  | { type: "call"; id: number; name: string; line: number; column: number }
  /** That call has ended, well or not. */
  | { type: "called"; id: number }
  /** Calls a function of the service. */
  | { type: "ask"; id: number; name: string; args: unknown[] }
  /** `json` is empty when the script returned nothing. */
  | { type: "done"; ok: true; json: string; cutFrom: number | null }
  | { type: "done"; ok: false; error: string; line: number | null; column: number | null };
