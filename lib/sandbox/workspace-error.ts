const brand = Symbol.for("agent-session-service.WorkspaceError");

/**
 * Why a workspace refuses, where callers of the HTTP API get an answer of their own for it. `missing`: there is no such
 * file or folder. `changed`: the file is not the expected one. `full`: a limit of the workspace or the disk.
 */
type RefusalReason = "missing" | "changed" | "full";

/** Thrown when the workspace refuses an operation. The message is a sentence that tells the model what to change. */
export class WorkspaceError extends Error {
  readonly [brand] = true;
  readonly reason: RefusalReason | undefined;

  constructor(sentence: string, cause?: unknown, reason?: RefusalReason) {
    super(sentence, cause === undefined ? undefined : { cause });
    this.name = "WorkspaceError";
    this.reason = reason;
  }
}

/**
 * Recognizes a WorkspaceError by its brand, because `instanceof` fails if the class was loaded in two module graphs.
 */
export function isWorkspaceError(error: unknown): error is WorkspaceError {
  return typeof error === "object" && error !== null && brand in error;
}
