import type { AttachmentPart } from "#db/schema/index.ts";
import { countOf } from "#lib/text/count-of.ts";
import type { MessageRow } from "../store/transcript-store.ts";
import { writeReference } from "../transcript/picture-reference.ts";

/**
 * A message for the model. With attached files, its first part is the text, and each other part refers to a picture among
 * them.
 */
export type ModelText =
  | { role: "assistant"; content: string }
  | { role: "user"; content: string | { type: "text"; text: string }[] };

/** Converts a caller's message to a message for the model. The model is told the paths of attached files. */
export function toModelMessage({ role, parts }: Pick<MessageRow, "role" | "parts">): ModelText {
  const text = parts.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n");
  const attached = parts.filter((part) => part.type === "attachment");
  if (role === "assistant" || attached.length === 0) return { role, content: text };
  const pictures = attached.flatMap(({ evidenceId, mediaType }) =>
    evidenceId === null
      ? []
      : [{ type: "text" as const, text: writeReference({ id: evidenceId, mediaType }) }],
  );
  const whole = [...(text === "" ? [] : [text, ""]), describeAttached(attached)].join("\n");
  return { role, content: [{ type: "text", text: whole }, ...pictures] };
}

/** Lists attached files for the model. The text ends with a bracket, so it is never a reference to a picture. */
function describeAttached(attached: readonly AttachmentPart[]): string {
  const lines = attached.map(({ path, mediaType, sizeBytes, evidenceId }) => {
    const shown = evidenceId === null ? "" : ", shown below";
    return `- ${path} (${mediaType}, ${countOf(sizeBytes, "byte")}${shown})`;
  });
  return `[The sender attached ${countOf(attached.length, "file")} of the workspace to this message:\n${lines.join("\n")}]`;
}
