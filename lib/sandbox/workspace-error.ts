const brand = Symbol.for("agent-session-service.WorkspaceError");

/** Thrown when the workspace refuses an operation. The message is a sentence that tells the model what to change. */
export class WorkspaceError extends Error {
  readonly [brand] = true;

  constructor(sentence: string, cause?: unknown) {
    super(sentence, cause === undefined ? undefined : { cause });
    this.name = "WorkspaceError";
  }
}

/**
 * Recognizes a WorkspaceError by its brand, because `instanceof` fails if the class was loaded in two module graphs.
 */
export function isWorkspaceError(error: unknown): error is WorkspaceError {
  return typeof error === "object" && error !== null && brand in error;
}
