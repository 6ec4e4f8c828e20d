import type { ExportedMessage, ExportedVariant } from "../format.ts";
import type { SessionContent } from "../read-content.ts";
import { describeChange } from "./describe-change.ts";
import { element, escapeHtml, folded, plainText } from "./escape.ts";
import { createPagesAfterCalls, createPictures } from "./pictures.ts";
import { renderMessage, renderTime } from "./render-message.ts";
import { STYLE } from "./style.ts";
import { renderTree } from "./tree.ts";
import { writePages, writePlan, writeReports, writeRequirements } from "./write-work.ts";

/** A Content-Security-Policy that blocks scripts and requests. Pictures are allowed as data URLs. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/**
 * Writes a session as one HTML file for people, piece by piece. The file has no scripts and makes no requests. All text
 * in it is escaped.
 *
 * @throws Error if the session was deleted during the export.
 */
export async function* writeHtml(content: SessionContent): AsyncIterable<string> {
  yield writeHead(content);
  yield* writeSection("result", "Result", writeDeliverables(content));
  yield* writeSection("plan", "Plan", writePlan(content));
  yield* writeSection("requirements", "Requirements", writeRequirements(content));
  const pictures = createPictures(content);
  yield* writeSection("reports", "Reports", writeReports(content, pictures));
  yield* writeSection("pages", "Pages", writePages(content));
  yield* writeSection("changes", "Changes of pages", writeVariants(content));
  yield* writeSection("conversation", "Conversation", writeMessages(content));
  yield* writeSection("imports", "Imported conversations", writeImports(content));
  yield* writeSection("pictures", "Pictures", pictures.rest());
  yield* writeSection("annotations", "Annotations", writeAnnotations(content));
  yield* writeSection("agents", "Sub-agents", writeAgents(content));
  yield* writeSection("left-out", "Not in this file", writeLeftOut(content));
  const { id, exportedAt } = content;
  yield `</main><footer><p class="soft">Export ${escapeHtml(id)}, ${renderTime(exportedAt)}.</p></footer></body></html>\n`;
  if (!(await content.exists()))
    throw new Error(`the session ${content.session.id} was deleted during its export`);
}

function writeHead({ session }: SessionContent): string {
  const { title, targetUrl, targetPageUrls, createdAt, state, stateReason } = session;
  const pages = [...new Set([...(targetUrl === null ? [] : [targetUrl]), ...targetPageUrls])];
  const facts = [
    ["Session", escapeHtml(session.id)],
    ["Started", renderTime(createdAt)],
    ["State", escapeHtml(`${state.replace("_", " ")}${stateReason === null ? "" : `: ${stateReason}`}`)],
    ...(pages.length > 0 ? [["Pages", pages.map(escapeHtml).join("<br>")]] : []),
  ];
  const list = facts.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join("");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body><header><h1 dir="auto">${escapeHtml(title)}</h1><dl class="facts">${list}</dl></header><main>
`;
}

/** Writes a section with a heading. Writes nothing if `pieces` is empty. */
async function* writeSection(
  id: string,
  title: string,
  pieces: AsyncIterable<string>,
): AsyncIterable<string> {
  let isOpen = false;
  for await (const piece of pieces) {
    if (!isOpen) yield `<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>\n`;
    isOpen = true;
    yield piece;
  }
  if (isOpen) yield "</section>\n";
}

async function* writeDeliverables({ deliverables }: SessionContent): AsyncIterable<string> {
  for (const deliverable of deliverables.toReversed()) {
    if (deliverable.status === "pending") continue;
    const shown =
      deliverable.status === "ready"
        ? renderTree(deliverable.value)
        : `<p class="failed">No result: ${escapeHtml(deliverable.error)}</p>`;
    yield `<div class="card">${shown}</div>\n`;
  }
}

async function* writeVariants(content: SessionContent): AsyncIterable<string> {
  for await (const variant of content.variants()) yield renderVariant(variant);
}

function renderVariant({ key, revision, author, check, publication, document }: ExportedVariant): string {
  const checked = check ? `<span class="${check.status}">check: ${check.status}</span>` : "not checked";
  const published = publication
    ? `published as release ${publication.number}${publication.revision === revision ? "" : ` (revision ${publication.revision})`}`
    : "not published";
  const about = `Revision ${revision} by ${author === "agent" ? "the agent" : "a person"}, ${checked}, ${published}.`;
  const pages = document.pages.map(({ url, match, changes, css, js }) => {
    const items = changes.map((change) => `<li>${describeChange(change)}</li>`).join("");
    const sheets = [
      ...(css === "" ? [] : [folded("Style sheet", element("pre", escapeHtml(css)))]),
      ...(js === "" ? [] : [folded("Script", element("pre", escapeHtml(js)))]),
    ];
    return `<p class="soft">${escapeHtml(url)} (${match})</p><ol class="changes">${items}</ol>${sheets.join("")}`;
  });
  return `<div class="card"><h3>Variant ${escapeHtml(key)}</h3><p class="soft">${about}</p>${pages.join("")}</div>\n`;
}

const writeMessages = (content: SessionContent) =>
  renderMessages(content.messages(), createPagesAfterCalls(content));

async function* renderMessages(
  messages: AsyncIterable<ExportedMessage>,
  renderPageAfter?: (callId: string) => Promise<string>,
): AsyncIterable<string> {
  for await (const message of messages) yield await renderMessage(message, renderPageAfter);
}

async function* writeImports(content: SessionContent): AsyncIterable<string> {
  for await (const { title, format, createdAt, messages } of content.imports()) {
    const name = escapeHtml(title ?? format);
    yield `<details class="card"><summary>${name}, imported ${renderTime(createdAt)}</summary>`;
    yield* renderMessages(messages());
    yield "</details>\n";
  }
}

async function* writeAnnotations(content: SessionContent): AsyncIterable<string> {
  for await (const { createdAt, event, annotations, output, url } of content.annotations()) {
    const notes = (Array.isArray(annotations) ? annotations : []).map(
      (note: Record<string, unknown> | null) => {
        const selector =
          note?.selector === undefined ? "" : ` <code>${escapeHtml(String(note.selector))}</code>`;
        return `<li>${escapeHtml(String(note?.comment ?? "No comment"))}${selector}</li>`;
      },
    );
    const shown = notes.length > 0 ? `<ul>${notes.join("")}</ul>` : plainText(String(output ?? event));
    yield `<div class="card">${shown}<p class="soft">${url === undefined ? "" : `${escapeHtml(String(url))}, `}${renderTime(createdAt)}</p></div>\n`;
  }
}

async function* writeAgents({ agents }: SessionContent): AsyncIterable<string> {
  for (const { name, objective, status, result, isResultCut } of agents) {
    const shown =
      result === null
        ? ""
        : isResultCut
          ? element("pre", escapeHtml(`${result}…`))
          : renderTree(JSON.parse(result));
    yield `<div class="card"><h3>${escapeHtml(name)} <span class="soft">${status ?? "at work"}</span></h3>${plainText(objective)}${shown === "" ? "" : folded("Result", shown)}</div>\n`;
  }
}

async function* writeLeftOut({ leftOut }: SessionContent): AsyncIterable<string> {
  if (leftOut.length === 0) return;
  const items = leftOut.map(({ field, reason }) => `<li>${escapeHtml(field)}: ${escapeHtml(reason)}</li>`);
  yield `<ul>${items.join("")}</ul>\n`;
}
