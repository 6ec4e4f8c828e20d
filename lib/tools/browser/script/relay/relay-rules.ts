import { BROWSER_COMMANDS, TARGET_COMMANDS } from "./devtools-commands.ts";
import { type HasId, type Params, Refusal, readFields } from "./param-rules.ts";

type Fields = Record<string, unknown>;

/**
 * The decision about one DevTools command of a script. `params` are the parameters to use, built from the rules of the
 * command. `local` means that the relay answers the command itself.
 */
export type RelayVerdict =
  | { verdict: "forward" | "local"; params: Fields }
  | { verdict: "refuse"; reason: string };

/** The receiver of a command: the browser as a whole, or one target (page, frame, worker) that the script was shown. */
export type RelayScope = "browser" | "target";

/** Specific error messages for refused commands, which tell the author of the script what to do. */
const REASONS: Record<string, string> = {
  "Target.createBrowserContext": "A script works on the session's pages: it opens no further contexts.",
  "Target.attachToBrowserTarget": "Raw DevTools sessions are not given to scripts; use the page.",
  "Browser.close": "The browser belongs to the session; a script cannot close it.",
  "Browser.setDownloadBehavior": "Downloads are stored in the session's workspace, below downloads/.",
  "Page.setDownloadBehavior": "Downloads are stored in the session's workspace, below downloads/.",
  "DOM.setFileInputFiles":
    "Files of the machine cannot be uploaded; give setInputFiles paths of the session's workspace.",
};

/**
 * Decides about one DevTools command of a script. Refuses a command that is not in `devtools-commands.ts`, and one that
 * has a parameter that is not allowed, such as a `file:` URL or the id of a context that the script was not shown.
 */
export function admitCommand(scope: RelayScope, method: string, params: Fields, hasId: HasId): RelayVerdict {
  const command = findCommand(scope, method);
  if (!command) return { verdict: "refuse", reason: explainUnknown(method) };
  try {
    return { verdict: command.verdict, params: readFields(command.params, params, hasId) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { message } = error;
    return { verdict: "refuse", reason: message.endsWith(".") ? message : `${method}: ${message}.` };
  }
}

function findCommand(
  scope: RelayScope,
  method: string,
): { verdict: "forward" | "local"; params: Params } | undefined {
  if (scope === "browser")
    return Object.hasOwn(BROWSER_COMMANDS, method) ? BROWSER_COMMANDS[method] : undefined;
  const params = Object.hasOwn(TARGET_COMMANDS, method) ? TARGET_COMMANDS[method] : undefined;
  return params && { verdict: "forward", params };
}

const explainUnknown = (method: string) =>
  (Object.hasOwn(REASONS, method) ? REASONS[method] : undefined) ??
  `${method.slice(0, 100)} is not open to scripts.`;
