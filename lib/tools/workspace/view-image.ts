import { z } from "zod";
import type { EvidencePointer } from "#lib/events/event.ts";
import { MISSING_BYTES } from "#lib/evidence/evidence.ts";
import { countOf } from "#lib/text/count-of.ts";
import { showPicture } from "../show-picture.ts";
import { defineTool, errorResult, type ToolResult } from "../tool.ts";
import { readImageType } from "./read-image-type.ts";
import type { WorkspaceServices } from "./services.ts";
import { withinWorkspace } from "./within-workspace.ts";

const imageBytesMax = 5 * 1_048_576;
/** Pictures of long pages are stored as evidence up to this size. The model gets smaller copies of their parts. */
const evidenceBytesMax = 8 * 1_048_576;

/** `view_image`: shows the model a picture of the workspace or of the session's evidence. */
export const viewImage = ({ sandbox, evidence }: WorkspaceServices) =>
  defineTool({
    name: "view_image",
    description:
      "Shows a picture of at most 5 MiB: a file of the workspace, or evidence. A high one is shown in parts.",
    input: z
      .object({
        path: z.string().optional(),
        evidenceId: z.string().optional(),
        part: z.number().int().min(1).max(1_000).default(1).describe("first part"),
      })
      // An empty string counts as omitted, because models often send an empty string instead of omitting a field.
      .refine(({ path, evidenceId }) => !path !== !evidenceId, "give either path or evidenceId"),
    idempotent: true,
    readOnly: true,
    changes: false,
    async execute({ path, evidenceId, part }, call): Promise<ToolResult | string> {
      if (evidenceId) {
        const stored = await evidence.read(call.sessionId, evidenceId);
        if (!stored) return errorResult(`evidenceId: this session has no evidence ${evidenceId}`);
        const { pointer, bytes } = stored;
        if (!bytes) return errorResult(`evidenceId: ${evidenceId} cannot be shown, because ${MISSING_BYTES}`);
        const checked = checkImage(evidenceId, bytes, bytes.byteLength, evidenceBytesMax);
        if (!checked.ok) return errorResult(checked.error);
        return show(pointer, bytes, part);
      }
      return withinWorkspace(sandbox, call, async (workspace) => {
        const name = path ?? "";
        const { bytes, totalBytes } = await workspace.readFile(name, imageBytesMax);
        const checked = checkImage(name, bytes, totalBytes, imageBytesMax);
        if (!checked.ok) return errorResult(checked.error);
        // The picture is stored as evidence, because the file may change but the picture in the transcript must not.
        const pointer = await evidence.save({
          sessionId: call.sessionId,
          runId: call.runId,
          kind: "file",
          title: name,
          url: null,
          mediaType: checked.mediaType,
          bytes,
        });
        return show(pointer, bytes, part);
      });
    },
  });

async function show(pointer: EvidencePointer, bytes: Uint8Array, part: number): Promise<ToolResult> {
  const shown = await showPicture(pointer, bytes, part);
  if (!shown) return errorResult(`${pointer.title} cannot be read as a picture`);
  const { images, note, parts } = shown;
  if (images.length === 0)
    return errorResult(`part: the picture has ${countOf(parts.length, "part")}, and no part ${part}`);
  return {
    isError: false,
    content: [...(note === undefined ? [] : [{ type: "text" as const, text: note }]), ...images],
  };
}

function checkImage(name: string, bytes: Uint8Array, totalBytes: number, bytesMax: number) {
  if (totalBytes > bytesMax) {
    const error = `${name} is ${totalBytes} bytes; a picture can be at most ${bytesMax}`;
    return { ok: false as const, error };
  }
  const mediaType = readImageType(bytes);
  if (!mediaType) return { ok: false as const, error: `${name} is not a PNG, JPEG, WebP or GIF picture` };
  return { ok: true as const, mediaType };
}
