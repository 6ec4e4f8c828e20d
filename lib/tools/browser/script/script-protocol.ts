import { z } from "zod";

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
      /** Source of a selector engine for refs. */
      refSource: string;
      actionTimeoutMs: number;
      logCharsMax: number;
      resultCharsMax: number;
    }
  | { type: "devtools"; message: object }
  /** Number of the session's tabs. Sent after `connected`, when the service has announced the other tabs to Playwright. */
  | { type: "pages"; count: number }
  /** A download of a page has ended. `path` is the file's path in the workspace; null if the download failed. */
  | { type: "download"; url: string; name: string; path: string | null; failure: string | null }
  /** The document that the current page waits for, and how long ago it was requested; null if the page waits for none. */
  | { type: "pending"; document: { url: string; ageMs: number; isRedirect: boolean } | null }
  /** A part of the file that the call with this id reads. The `answer` follows the last part. */
  | { type: "bytes"; id: number; base64: string }
  | { type: "answer"; id: number; ok: true; value: unknown }
  | { type: "answer"; id: number; ok: false; error: string };

const id = z.number();
const position = z.number().nullable();
const done = { type: z.literal("done") };

/** The messages that the child sends. The child runs untrusted code, so the service validates each message. */
export const fromChildSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ready") }),
  /** Playwright is connected to the current page. */
  z.object({ type: z.literal("connected") }),
  /** The relay checks the contents of the message. */
  z.object({ type: z.literal("devtools"), message: z.custom<object>(isObject) }),
  z.object({ type: z.literal("log"), text: z.string() }),
  /** The script has started or stopped listening for dialogs. */
  z.object({ type: z.literal("dialogs"), isListening: z.boolean() }),
  /**
   * The script uses a ref, such as `e7`. The service makes the element of the ref available to Playwright before the
   * script's next action.
   */
  z.object({ type: z.literal("ref"), ref: z.string() }),
  /**
   * The script has called a function of Playwright. `line` and `column` say where in the script the call is; they are
   * null if that is not known.
   */
  z.object({
    type: z.literal("call"),
    id,
    name: z.string(),
    line: position,
    column: position,
    /** What the call does, if it does something to the page. */
    act: z
      .object({
        method: z.string(),
        selector: z.string().optional(),
        url: z.string().optional(),
        key: z.string().optional(),
      })
      .optional(),
  }),
  /** The call of Playwright with this id has ended. `isDone`: it has succeeded. */
  z.object({ type: z.literal("called"), id, isDone: z.boolean() }),
  /** Calls a function of the service, which sends an `answer` with the same id. */
  z.object({ type: z.literal("ask"), id, name: z.string(), args: z.array(z.unknown()) }),
  z.discriminatedUnion("ok", [
    /** `json` is empty when the script returned nothing. `cutFrom` is the number of characters if it was cut. */
    z.object({ ...done, ok: z.literal(true), json: z.string(), cutFrom: z.number().nullable() }),
    z.object({
      ...done,
      ok: z.literal(false),
      error: z.string(),
      line: z.number().nullable(),
      column: z.number().nullable(),
    }),
  ]),
]);

export type FromChild = z.infer<typeof fromChildSchema>;

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
