import { z } from "zod";
import { storableText } from "#db/storable.ts";
import { endOfCharacter, startOfCharacter } from "#lib/text/whole-characters.ts";
import { defineTool, errorResult, type Tool } from "../tool.ts";
import type { WorkspaceServices } from "./services.ts";
import { withinWorkspace } from "./within-workspace.ts";

const BYTES_MAX = 10 * 1_048_576;
const CHARACTERS_DEFAULT = 20_000;
const CHARACTERS_MAX = 100_000;

/** `read_file`: reads a part of a text file of the workspace. */
export const readFile = ({ sandbox }: WorkspaceServices): Tool =>
  defineTool({
    name: "read_file",
    description: "Reads a text file of the workspace.",
    input: z.object({
      path: z.string().min(1),
      offset: z.number().int().min(0).default(0),
      limit: z.number().int().min(1).max(CHARACTERS_MAX).default(CHARACTERS_DEFAULT),
    }),
    idempotent: true,
    readOnly: true,
    changes: false,
    execute: ({ path, offset: from, limit }, call) =>
      withinWorkspace(sandbox, call, async (workspace) => {
        const { bytes, totalBytes } = await workspace.readFile(path, BYTES_MAX);
        const text = decodeText(bytes);
        if (text === undefined) {
          return errorResult(`${path} is not text (${totalBytes} bytes): use view_image or run_shell`);
        }
        // Pages meet between two characters, so that reading all of them yields the whole text.
        const offset = startOfCharacter(text, from);
        const end = endOfCharacter(text, Math.min(from + limit, text.length));
        const isCut = bytes.byteLength < totalBytes;
        if (offset === 0 && end === text.length && !isCut) {
          return text === "" ? "[the file is empty]" : storableText(text);
        }
        const total = `${text.length}${isCut ? "+" : ""}`;
        const next = end < text.length ? `; continue with offset ${end}` : "";
        return `${storableText(text.slice(offset, end))}\n[characters ${offset} to ${end} of ${total}${next}]`;
      }),
  });

/** Decodes UTF-8 text; undefined if the bytes are not text. A character that is cut at the end is left out. */
function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.subarray(0, 8_192).includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}
