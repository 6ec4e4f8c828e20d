const brand = Symbol.for("agent-session-service.WorkspaceError");

/** Why a workspace refused: the message is a sentence for the model, which names what to change. */
export class WorkspaceError extends Error {
  readonly [brand] = true;

  constructor(sentence: string, cause?: unknown) {
    super(sentence, cause === undefined ? undefined : { cause });
    this.name = "WorkspaceError";
  }
}

/** Recognises a workspace's refusal by its brand, which holds across module graphs. */
export function isWorkspaceError(error: unknown): error is WorkspaceError {
  return typeof error === "object" && error !== null && brand in error;
}
