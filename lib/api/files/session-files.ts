import type { Database } from "#db/client.ts";
import type { SandboxService, StoredFile, Workspace } from "#lib/sandbox/sandbox-service.ts";
import { isWorkspaceError } from "#lib/sandbox/workspace-error.ts";
import { findSession, type SessionRow } from "#lib/session/store/session-store.ts";
import { findRootOf } from "#lib/session/store/session-tree-store.ts";
import { type Failure, fail } from "../http/errors.ts";

/** What the files of sessions need. */
export type FileServices = { db: Database; sandbox: Pick<SandboxService, "open" | "describe"> };

/** The workspace of a session. `isUnused`: it was never started, so it has no files, and reading must not start it. */
type SessionFiles = { ok: true; rootSessionId: string; isUnused: boolean; open: () => Promise<Workspace> };

/**
 * Finds the workspace of a session. A sub-agent works in the workspace of its root session.
 * @returns a refusal if the session cannot have one.
 */
export async function findFiles(
  { db, sandbox }: FileServices,
  session: SessionRow,
): Promise<SessionFiles | Failure> {
  if (!session.capabilities.sandbox)
    return fail("conflict", "this session has no workspace: it was created with capabilities.sandbox: false");
  const { kind, detail } = sandbox.describe();
  if (kind === "none") return fail("conflict", `this session has no workspace: ${detail}`);
  const rootSessionId = session.parentSessionId === null ? session.id : await findRootOf(db, session.id);
  const root = rootSessionId === session.id ? session : await findSession(db, rootSessionId);
  return {
    ok: true,
    rootSessionId,
    isUnused: root?.startupStatus === "uninitialized",
    open: () => sandbox.open(rootSessionId),
  };
}

/**
 * Runs work on files. A refusal of the workspace becomes a refusal of the call.
 * @param isConditional whether the caller expects a file: that it is missing is then a failed precondition.
 */
export async function withinFiles<Result>(
  work: () => Promise<Result | Failure>,
  { isConditional = false } = {},
): Promise<Result | Failure> {
  try {
    return await work();
  } catch (error) {
    if (!isWorkspaceError(error)) throw error;
    const { message, reason } = error;
    switch (reason) {
      case "missing":
        return fail(isConditional ? "precondition_failed" : "not_found", message);
      case "changed":
        return fail("precondition_failed", message);
      case "full":
        return fail("conflict", message);
      default:
        return fail("invalid_request", message);
    }
  }
}

/** Returns the entity tag of a file. It contains the file's version, so that a change can expect it. */
export const tagOfFile = ({ version }: StoredFile): string =>
  `"${Buffer.from(version).toString("base64url")}"`;

/** Reads the version from an entity tag; a tag of another form names no version that a file has. */
export const versionOfTag = (tag: string): string =>
  Buffer.from(/^"([\w-]{1,200})"$/.exec(tag)?.[1] ?? "", "base64url").toString();
