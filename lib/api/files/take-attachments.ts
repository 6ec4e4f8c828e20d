import type { AttachmentPart } from "#db/schema/index.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import { readPictureSize } from "#lib/evidence/model-copy.ts";
import { parseWorkspacePath } from "#lib/sandbox/parse-workspace-path.ts";
import type { Workspace } from "#lib/sandbox/sandbox-service.ts";
import { isWorkspaceError } from "#lib/sandbox/workspace-error.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";
import { readImageType } from "#lib/tools/workspace/read-image-type.ts";
import { type Failure, fail } from "../http/errors.ts";
import { mediaTypeOf } from "./media-type.ts";
import { type FileServices, findFiles } from "./session-files.ts";

/** A picture up to this size is shown to the model, as with the tool `view_image`. */
const PICTURE_BYTES_MAX = 5 * 1_048_576;

/** Attached files, as parts of their message. `discard` removes what was stored for a message that was then refused. */
type Attached = { ok: true; parts: AttachmentPart[]; discard: () => Promise<void> };

type Checked = { part: AttachmentPart; picture: Uint8Array | undefined };

/**
 * Takes files of the workspace as attachments of a message. Pictures that the model can see are stored as evidence,
 * because the file may change but the picture in the transcript must not.
 * @returns a refusal that names the first wrong path; nothing is stored then.
 */
export async function takeAttachments(
  services: FileServices & { evidence: EvidenceStore },
  session: SessionRow,
  paths: readonly string[],
): Promise<Attached | Failure> {
  if (paths.length === 0) return { ok: true, parts: [], discard: async () => {} };
  const files = await findFiles(services, session);
  if (!files.ok) return fail("invalid_request", `attachments: ${files.error}`);
  const checked: Checked[] = [];
  const workspace = files.isUnused ? undefined : await files.open();
  for (const [index, path] of paths.entries()) {
    const file = await check(workspace, path);
    if (typeof file === "string") return fail("invalid_request", `attachments[${index}]: ${file}`);
    if (checked.some(({ part }) => part.path === file.part.path))
      return fail("invalid_request", `attachments[${index}]: is attached already`);
    checked.push(file);
  }
  const saved: string[] = [];
  const discard = async () => {
    for (const id of saved) await services.evidence.discard(session.id, id);
  };
  try {
    const parts: AttachmentPart[] = [];
    for (const { part, picture } of checked) {
      const pointer =
        picture &&
        (await services.evidence.save({
          sessionId: session.id,
          runId: null,
          kind: "file",
          title: part.path,
          url: null,
          mediaType: part.mediaType,
          bytes: picture,
        }));
      if (pointer) saved.push(pointer.id);
      parts.push({ ...part, evidenceId: pointer?.id ?? null });
    }
    return { ok: true, parts, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** Reads an attached file as far as needed. @returns a sentence if it cannot be attached. */
async function check(workspace: Workspace | undefined, path: string): Promise<Checked | string> {
  try {
    const name = parseWorkspacePath(path).join("/");
    if (!workspace) return `${name} does not exist`;
    const { file, bytes } = await workspace.readPart(name, { offset: 0, limitBytes: PICTURE_BYTES_MAX });
    const type = file.sizeBytes === bytes.byteLength ? readImageType(bytes) : undefined;
    // A picture that cannot be decoded would make the provider refuse every later prompt of the session.
    const isPicture = type !== undefined && (await readPictureSize(bytes)) !== undefined;
    const mediaType = type ?? mediaTypeOf(name);
    const part: AttachmentPart = {
      type: "attachment",
      path: name,
      mediaType,
      sizeBytes: file.sizeBytes,
      evidenceId: null,
    };
    return { part, picture: isPicture ? bytes : undefined };
  } catch (error) {
    if (isWorkspaceError(error)) return error.message.replace(/^path: /, "");
    throw error;
  }
}
