import type { ToolResultPart } from "ai";
import { readReference } from "#lib/session/transcript/picture-reference.ts";

type Output = ToolResultPart["output"];

/**
 * A tool's output as text and pictures. `pictures` has the evidence id of each picture, or undefined for a picture
 * whose bytes are in the message.
 */
type ReadOutput = { text: string; pictures: (string | undefined)[]; isError: boolean };

/** Separates a tool's output into its text and its pictures. */
export function readOutput(output: Output): ReadOutput {
  switch (output.type) {
    case "text":
      return { text: output.value, pictures: [], isError: false };
    case "error-text":
      return { text: output.value, pictures: [], isError: true };
    case "json":
    case "error-json":
      return { text: JSON.stringify(output.value), pictures: [], isError: output.type === "error-json" };
    case "execution-denied":
      return { text: output.reason ?? "", pictures: [], isError: true };
    case "content":
      return readContent(output.value);
  }
}

function readContent(items: Extract<Output, { type: "content" }>["value"]): ReadOutput {
  const texts: string[] = [];
  const pictures: (string | undefined)[] = [];
  for (const item of items) {
    if (item.type !== "text") {
      pictures.push(undefined);
      continue;
    }
    const evidenceId = readReference(item.text)?.id;
    if (evidenceId === undefined) texts.push(item.text);
    else pictures.push(evidenceId);
  }
  return { text: texts.join("\n\n"), pictures, isError: false };
}
