import { CHOSEN_FILE_BYTES_MAX, type ChosenFile } from "#lib/browser/stage/stage-state.ts";
import { isWorkspaceError } from "#lib/sandbox/workspace-error.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

const FILES_MAX = 500;
const MEDIA_TYPE = "application/octet-stream";

/** `GET …/actions/browser/files`: lists the files of the workspace that a person can give to a page. */
async function listBrowserFiles(
  { sandbox }: ApiServices,
  { session }: CallOf<"listBrowserFiles">,
): Promise<Answer> {
  const hasWorkspace = session.capabilities.sandbox && session.parentSessionId === null;
  const entries = hasWorkspace
    ? await (await sandbox.open(session.id)).list("", { recursive: true, limit: 4 * FILES_MAX })
    : [];
  const files = entries.flatMap(({ path, type, sizeBytes }) =>
    type === "file" ? [{ path, sizeBytes }] : [],
  );
  const isComplete = entries.length < 4 * FILES_MAX && files.length <= FILES_MAX;
  return { ok: true, status: 200, body: { success: true, files: files.slice(0, FILES_MAX), isComplete } };
}

/** `POST …/actions/browser/files`: adds a file to the file chooser of the page that people see. */
async function addBrowserFile(services: ApiServices, call: CallOf<"addBrowserFile">): Promise<Answer> {
  const { params, body } = call;
  const mayAct = () => services.control.holderOf(params.sessionId) === body.connectionId;
  if (!mayAct()) return fail("conflict", NO_CONTROL);
  const file = "path" in body ? await readFromWorkspace(services, call, body.path) : decode(body);
  if ("error" in file) return fail("invalid_request", file.error);
  if (!mayAct()) return fail("conflict", NO_CONTROL);
  const action = { type: "addFile", widgetId: body.widgetId, file } as const;
  const outcome = await services.browser.act(params.sessionId, body.connectionId, action);
  return outcome.isDone ? ADDED : fail("conflict", outcome.reason);
}

const NO_CONTROL = "connectionId: this connection does not have control of the browser; take control first";
const ADDED: Answer = { ok: true, status: 200, body: { success: true } };

const decode = ({
  name,
  mediaType,
  content,
}: {
  name: string;
  mediaType?: string | undefined;
  content: string;
}) => ({
  name,
  mediaType: mediaType ?? MEDIA_TYPE,
  bytes: Buffer.from(content, "base64"),
});

async function readFromWorkspace(
  { sandbox }: ApiServices,
  { session }: CallOf<"addBrowserFile">,
  path: string,
): Promise<ChosenFile | { error: string }> {
  if (!session.capabilities.sandbox || session.parentSessionId !== null)
    return { error: "path: this session has no workspace" };
  try {
    const workspace = await sandbox.open(session.id);
    const { bytes, totalBytes } = await workspace.readFile(path, CHOSEN_FILE_BYTES_MAX);
    if (totalBytes > bytes.byteLength)
      return { error: `path: the file is larger than ${CHOSEN_FILE_BYTES_MAX / 2 ** 20} MiB` };
    return { name: path.split("/").at(-1) ?? path, mediaType: MEDIA_TYPE, bytes };
  } catch (error) {
    if (isWorkspaceError(error)) return { error: `path: ${error.message}` };
    throw error;
  }
}

export const browserFileHandlers = { listBrowserFiles, addBrowserFile } satisfies Partial<Handlers>;
