import { setImmediate } from "node:timers/promises";
import { shorten } from "#lib/text/shorten.ts";
import { withoutMarks } from "#lib/text/without-marks.ts";
import type { ExportedMessage, ExportedToolResult } from "../format.ts";
import { element, escapeHtml, folded, plainText } from "./escape.ts";
import { renderMarkdown } from "./markdown.ts";
import { renderTree } from "./tree.ts";

/** Renders a time in UTC, because a local time would need a script. */
export const renderTime = (iso: string): string =>
  `<time datetime="${escapeHtml(iso)}">${escapeHtml(`${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`)}</time>`;

/**
 * Renders a message. Each tool call is a single line that people can unfold to see the details, followed by what
 * `renderPageAfter` returns for it.
 */
export async function renderMessage(
  message: ExportedMessage,
  renderPageAfter: (callId: string) => Promise<string> = async () => "",
): Promise<string> {
  const { role, parts, results, createdAt } = message;
  let body = "";
  for (const part of parts) {
    body += renderPart(part, role, results);
    if (part.type === "tool-call") body += await renderPageAfter(String(part.toolCallId));
    // Parsing Markdown can take a millisecond or more. After each part, the event loop can therefore serve other
    // requests.
    await setImmediate();
  }
  const name = role === "assistant" ? "Agent" : "User";
  const who = `<p class="who"><span>${name}</span>${renderTime(createdAt)}</p>`;
  return `<article class="message ${role}">${who}<div class="said">${body}</div></article>\n`;
}

function renderPart(
  part: ExportedMessage["parts"][number],
  role: ExportedMessage["role"],
  results: ExportedToolResult[],
): string {
  if (part.type === "text") {
    const text = String(part.text);
    return role === "assistant" ? renderMarkdown(text) : plainText(text);
  }
  if (part.type === "reasoning") return folded("Reasoning", plainText(String(part.text)));
  if (part.type === "tool-call") return renderCall(part, results);
  if (part.type === "data-deliverable")
    return folded("Result", `<div class="card">${renderTree(part.data)}</div>`, true);
  if (part.type === "attachment")
    return element("p", `Attached file: ${escapeHtml(String(part.path))}`, 'class="soft"');
  if (part.type === "annotation") return folded("Annotation", plainText(String(part.text)));
  return folded(escapeHtml(part.type), element("pre", escapeHtml(JSON.stringify(part, null, 2))));
}

const SUBJECTS = ["url", "path", "query", "selector", "command", "question", "text", "variant", "script"];
const SUBJECT_CHARACTERS_MAX = 100;

function renderCall(part: Record<string, unknown>, results: ExportedToolResult[]): string {
  const { toolCallId, toolName, input } = part;
  const result = results.find((each) => each.toolCallId === toolCallId);
  const subject = findSubject(input);
  const mark = renderMark(result);
  const line = `<code>${escapeHtml(String(toolName))}</code> ${escapeHtml(subject)}${mark}`;
  const details = [
    element("p", "Input", 'class="soft"'),
    element(
      "pre",
      escapeHtml(typeof input === "string" ? input : (JSON.stringify(input, null, 2) ?? "none")),
    ),
    ...(result
      ? [
          element("p", result.isCut ? "Result, its beginning" : "Result", 'class="soft"'),
          element("pre", escapeHtml(withoutMarks(result.text))),
        ]
      : []),
  ];
  return `<details class="tool"><summary>${line}</summary>${details.join("")}</details>`;
}

/** Renders a short label for a tool call that failed, was refused or has no result. Empty for a successful call. */
function renderMark(result: ExportedToolResult | undefined): string {
  if (result?.state === "succeeded") return "";
  if (result?.refusal !== undefined) return ' <span class="refused">not run, plan first</span>';
  if (result?.state === "interrupted") return ' <span class="refused">interrupted by a person</span>';
  return ` <span class="failed">${result?.state === "failed" ? "failed" : "has no result"}</span>`;
}

/**
 * Chooses a short text that tells what a tool call is about: the first line of the most informative field of its input.
 */
function findSubject(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const fields = new Map<string, unknown>(Object.entries(input));
  const value = SUBJECTS.map((name) => fields.get(name)).find((each) => typeof each === "string");
  const line =
    String(value ?? "")
      .trim()
      .split("\n", 1)[0] ?? "";
  return shorten(line, SUBJECT_CHARACTERS_MAX);
}
