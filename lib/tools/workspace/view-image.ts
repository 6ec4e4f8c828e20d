import { z } from "zod";
import { MISSING_BYTES } from "#lib/evidence/evidence.ts";
import { defineTool, errorResult, type ToolResult } from "../tool.ts";
import { readImageType } from "./read-image-type.ts";
import type { WorkspaceServices } from "./services.ts";
import { withinWorkspace } from "./within-workspace.ts";

const imageBytesMax = 5 * 1_048_576;

/** `view_image`: shows the model a picture of the workspace or of the session's evidence. */
export const viewImage = ({ sandbox, evidence }: WorkspaceServices) =>
  defineTool({
    name: "view_image",
    description: "Shows a picture of at most 5 MiB: a file of the workspace, or evidence.",
    input: z
      .object({
        path: z.string().optional(),
        evidenceId: z.string().optional(),
      })
      // An empty string counts as omitted, because models often send an empty string instead of omitting a field.
      .refine(({ path, evidenceId }) => !path !== !evidenceId, "give either path or evidenceId"),
    idempotent: true,
    readOnly: true,
    changes: false,
    async execute({ path, evidenceId }, call): Promise<ToolResult | string> {
      if (evidenceId) {
        const stored = await evidence.read(call.sessionId, evidenceId);
        if (!stored) return errorResult(`evidenceId: this session has no evidence ${evidenceId}`);
        const { pointer, bytes } = stored;
        if (!bytes) return errorResult(`evidenceId: ${evidenceId} cannot be shown, because ${MISSING_BYTES}`);
        const checked = checkImage(evidenceId, bytes, bytes.byteLength);
        if (!checked.ok) return errorResult(checked.error);
        return { isError: false, content: [{ type: "image", evidence: pointer, data: bytes }] };
      }
      return withinWorkspace(sandbox, call, async (workspace) => {
        const name = path ?? "";
        const { bytes, totalBytes } = await workspace.readFile(name, imageBytesMax);
        const checked = checkImage(name, bytes, totalBytes);
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
        return { isError: false, content: [{ type: "image", evidence: pointer, data: bytes }] };
      });
    },
  });

function checkImage(name: string, bytes: Uint8Array, totalBytes: number) {
  if (totalBytes > imageBytesMax) {
    const error = `${name} is ${totalBytes} bytes; a picture can be at most ${imageBytesMax}`;
    return { ok: false as const, error };
  }
  const mediaType = readImageType(bytes);
  if (!mediaType) return { ok: false as const, error: `${name} is not a PNG, JPEG, WebP or GIF picture` };
  return { ok: true as const, mediaType };
}
