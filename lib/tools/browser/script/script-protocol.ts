/** The messages that the service sends to a script's child process, one JSON line each. */
export type ToChild =
  | {
      type: "run";
      script: string;
      /** Names of the functions of the service that the script can call as `page.<name>`. */
      helpers: string[];
      /**
       * Maps the key of each inner frame (`f1`) to the refs of the iframe elements that contain the frame, outermost
       * first.
       */
      frames: Record<string, string[]>;
      /** Source of a selector engine that explains why an action on an element is not possible. */
      explainSource: string;
      actionTimeoutMs: number;
      logCharsMax: number;
      resultCharsMax: number;
    }
  | { type: "devtools"; message: object }
  /** Number of the session's tabs. Sent after `connected`, when the service has announced the other tabs to Playwright. */
  | { type: "pages"; count: number }
  /** A download of a page has ended. `path` is the file's path in the workspace; null if the download failed. */
  | { type: "download"; url: string; name: string; path: string | null; failure: string | null }
  | { type: "answer"; id: number; ok: true; value: unknown }
  | { type: "answer"; id: number; ok: false; error: string };

/** The messages that the child sends. The child runs untrusted code, so the service does not trust them. */
export type FromChild =
  | { type: "ready" }
  /** Playwright is connected to the current page. */
  | { type: "connected" }
  | { type: "devtools"; message: object }
  | { type: "log"; text: string }
  /** The script has started or stopped listening for dialogs. */
  | { type: "dialogs"; isListening: boolean }
  /**
   * The script uses a ref, such as `e7`. The service makes the element of the ref available to Playwright before the
   * script's next action.
   */
  | { type: "ref"; ref: string }
  /** The script has called a function of Playwright. `line` and `column` say where in the script the call is. */
  | { type: "call"; id: number; name: string; line: number; column: number }
  /** The call of Playwright with this id has succeeded or failed. */
  | { type: "called"; id: number }
  /** Calls a function of the service, which sends an `answer` with the same id. */
  | { type: "ask"; id: number; name: string; args: unknown[] }
  /** `json` is empty when the script returned nothing. */
  | { type: "done"; ok: true; json: string; cutFrom: number | null }
  | { type: "done"; ok: false; error: string; line: number | null; column: number | null };
