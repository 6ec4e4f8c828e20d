import { fileNameBytes } from "#lib/disk/file-name.ts";
import { parseWorkspacePath } from "#lib/sandbox/parse-workspace-path.ts";
import type { ExpectedVersion, StoredFile, Workspace, WorkspaceEntry } from "#lib/sandbox/sandbox-service.ts";
import { isWorkspaceError } from "#lib/sandbox/workspace-error.ts";
import { lockSession } from "#lib/session/store/session-store.ts";
import { unknownSession } from "../auth/known-session.ts";
import { mediaTypeOf } from "../files/media-type.ts";
import { sendFile } from "../files/send-file.ts";
import { findFiles, tagOfFile, versionOfTag, withinFiles } from "../files/session-files.ts";
import { type Failure, fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

const LIMIT_DEFAULT = 200;
/** The most entries of one folder that are listed. A workspace has at most as many files and folders by default. */
const FOLDER_ENTRIES_MAX = 50_000;

/** `GET …/files`: lists a folder of the workspace. */
async function listFiles(services: ApiServices, { session, query }: CallOf<"listFiles">): Promise<Answer> {
  const { path = "", limit = LIMIT_DEFAULT, cursor } = query;
  const files = await findFiles(services, session);
  if (!files.ok) return files;
  return withinFiles(async (): Promise<Answer> => {
    const names = parseWorkspacePath(path);
    if (files.isUnused)
      return names.length === 0
        ? describeList([], null, undefined)
        : fail("not_found", `path: ${names.join("/")} does not exist`);
    const workspace = await files.open();
    const entries = await workspace.list(names.join("/"), {
      recursive: false,
      limit: FOLDER_ENTRIES_MAX,
      times: true,
    });
    const after = cursor === undefined ? undefined : Buffer.from(cursor, "base64url");
    const rest = entries.filter(
      (entry) => after === undefined || Buffer.compare(nameBytes(entry), after) > 0,
    );
    const page = rest.slice(0, limit);
    const last = page.at(-1);
    const nextCursor = rest.length > limit && last ? nameBytes(last).toString("base64url") : null;
    return describeList(page, nextCursor, workspace.note);
  });
}

const nameBytes = ({ path }: WorkspaceEntry): Buffer => fileNameBytes(path.split("/").at(-1) ?? "");

const describeList = (
  entries: WorkspaceEntry[],
  nextCursor: string | null,
  note: string | undefined,
): Answer => ({
  ok: true,
  status: 200,
  body: {
    success: true,
    data: entries.map(({ path, type, sizeBytes, modifiedAtMs = 0 }) =>
      describeFile(path, type === "directory" ? "folder" : "file", { sizeBytes, modifiedAtMs }),
    ),
    nextCursor,
    note: note ?? null,
  },
});

const describeFile = (
  path: string,
  type: "file" | "folder",
  { sizeBytes, modifiedAtMs }: Omit<StoredFile, "version">,
) => ({
  path,
  type,
  sizeBytes,
  modifiedAt: new Date(modifiedAtMs).toISOString(),
  mediaType: type === "file" ? mediaTypeOf(path) : null,
});

/** `GET …/files/<path>`: sends a file of the workspace. */
async function readFile(services: ApiServices, call: CallOf<"readFile">): Promise<Answer> {
  const { session, params, request } = call;
  const files = await findFiles(services, session);
  if (!files.ok) return files;
  return withinFiles(async (): Promise<Answer> => {
    const path = parseWorkspacePath(params.filePath).join("/");
    if (path === "") return fail("invalid_request", "path: must name a file");
    if (files.isUnused) return fail("not_found", `path: ${path} does not exist`);
    return sendFile(await files.open(), path, request);
  });
}

/** `PUT …/files/<path>`: writes a file of the workspace. */
async function writeFile(services: ApiServices, call: CallOf<"writeFile">): Promise<Answer> {
  const { session, params, body, request, query } = call;
  const isRename = query.ifExists === "rename";
  const read = readExpected(request.headers);
  if (typeof read === "object" && "ok" in read) return read;
  if (isRename && read !== undefined)
    return fail("invalid_request", "ifExists: must not be sent with If-Match or If-None-Match");
  const files = await findFiles(services, session);
  if (!files.ok) return files;
  return withinFiles(
    async (): Promise<Answer> => {
      const path = parseWorkspacePath(params.filePath).join("/");
      const workspace = await files.open();
      const isNew = isRename || read === "absent" || !(await exists(workspace, path));
      const written = isRename
        ? await writeRenamed(workspace, path, body)
        : { path, stored: await workspace.writeFile(path, body, read) };
      const { stored } = written;
      const change = { path: written.path, change: "written", sizeBytes: stored.sizeBytes } as const;
      if (!(await announce(services, session.id, change))) {
        await services.sandbox.remove(files.rootSessionId);
        return unknownSession();
      }
      return {
        ok: true,
        status: isNew ? 201 : 200,
        body: { success: true, file: describeFile(written.path, "file", stored) },
        headers: { ETag: tagOfFile(stored) },
      };
    },
    { isConditional: read !== undefined },
  );
}

const exists = (workspace: Workspace, path: string): Promise<boolean> =>
  workspace.readPart(path, { offset: 0, limitBytes: 0 }).then(
    () => true,
    (error: unknown) => {
      if (isWorkspaceError(error)) return false;
      throw error;
    },
  );

/** How many names are tried for a file. */
const NAMES_MAX = 100;

/** Writes a new file. If its name is taken, adds a number to it. */
async function writeRenamed(workspace: Workspace, path: string, bytes: Uint8Array) {
  const extension = /[^/](\.[^./]+)$/.exec(path)?.[1] ?? "";
  const stem = path.slice(0, path.length - extension.length);
  for (let number = 1; ; number += 1) {
    const named = number === 1 ? path : `${stem} (${number})${extension}`;
    try {
      return { path: named, stored: await workspace.writeFile(named, bytes, "absent") };
    } catch (error) {
      if (!isWorkspaceError(error) || error.reason !== "changed" || number === NAMES_MAX) throw error;
    }
  }
}

/** `DELETE …/files/<path>`: removes a file of the workspace. */
async function removeFile(services: ApiServices, call: CallOf<"removeFile">): Promise<Answer> {
  const { session, params, request } = call;
  const expected = readExpected(request.headers);
  if (typeof expected === "object" && "ok" in expected) return expected;
  const files = await findFiles(services, session);
  if (!files.ok) return files;
  return withinFiles(
    async (): Promise<Answer> => {
      const path = parseWorkspacePath(params.filePath).join("/");
      if (files.isUnused) return fail("not_found", `path: ${path} does not exist`);
      const workspace = await files.open();
      await workspace.remove(path, expected);
      await announce(services, session.id, { path, change: "removed", sizeBytes: null });
      return { ok: true, status: 200, body: { success: true } };
    },
    { isConditional: expected !== undefined },
  );
}

type FileChange = { path: string; change: "written" | "removed"; sizeBytes: number | null };

/**
 * Tells the watchers of a session that a file has changed.
 * @returns false if the session was removed meanwhile. Its folder may then have been created again.
 */
const announce = ({ log }: ApiServices, sessionId: string, change: FileChange): Promise<boolean> =>
  log.transact(sessionId, async (tx, emit) => {
    const session = await lockSession(tx, sessionId);
    if (!session) return false;
    emit({ kind: "workspace.changed", requestId: null, runId: null, source: session.source, ...change });
    return true;
  });

/** Reads what the caller expects the file to be before its change. */
function readExpected(headers: Headers): ExpectedVersion | undefined | Failure {
  const match = headers.get("if-match")?.trim();
  const noneMatch = headers.get("if-none-match")?.trim();
  if (headers.has("content-range"))
    return fail("invalid_request", "Content-Range: a part of a file cannot be written; send the whole file");
  if (noneMatch !== undefined && noneMatch !== "*")
    return fail("invalid_request", "If-None-Match: must be *");
  if (noneMatch !== undefined && match !== undefined)
    return fail("invalid_request", "If-Match: must not be sent with If-None-Match");
  if (noneMatch === "*") return "absent";
  if (match === undefined) return undefined;
  return match === "*" ? "any" : { version: versionOfTag(match) };
}

export const fileHandlers = { listFiles, readFile, writeFile, removeFile } satisfies Partial<Handlers>;
