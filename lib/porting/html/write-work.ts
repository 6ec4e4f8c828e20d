import { setImmediate } from "node:timers/promises";
import type { PlanItemStatus } from "#db/schema/unions.ts";
import { countOf } from "#lib/text/count-of.ts";
import type { ExportedReport, ExportedRequirement } from "../format.ts";
import type { SessionContent } from "../read-content.ts";
import { element, escapeHtml, folded } from "./escape.ts";
import { renderMarkdown } from "./markdown.ts";
import type { Pictures } from "./pictures.ts";
import { renderTime } from "./render-message.ts";

const ITEM_WORDS: Record<PlanItemStatus, string> = {
  todo: "to do",
  in_progress: "in progress",
  done: "done",
  dropped: "dropped",
};

/** Writes the items of the plan, each with its status. */
export async function* writePlan({ plan }: SessionContent): AsyncIterable<string> {
  if (!plan || plan.items.length === 0) return;
  const items = plan.items.map(
    ({ text, status }) =>
      `<li dir="auto">${escapeHtml(text)} <span class="soft">${ITEM_WORDS[status]}</span></li>`,
  );
  const by = plan.author === "agent" ? "the agent" : "a person";
  const mode = { off: "", plan_first: ", not agreed to yet", agreed: ", agreed" }[plan.mode];
  yield `<div class="card"><p class="soft">By ${by}${mode}.</p><ol class="changes">${items.join("")}</ol></div>\n`;
}

export async function* writeRequirements({ requirements }: SessionContent): AsyncIterable<string> {
  if (requirements.length === 0) return;
  yield `<div class="card"><ul class="changes">${requirements.map(renderRequirement).join("")}</ul></div>\n`;
}

const STATUS_CLASSES = { open: "soft", met: "pass", failed: "fail", waived: "soft" };

function renderRequirement(requirement: ExportedRequirement): string {
  const { id, text, status, note, author, assertion, outcome, evidenceIds } = requirement;
  const lines = [
    author === "person" ? "by a person" : "by the agent",
    ...(assertion
      ? [
          `<code>${escapeHtml(assertion.selector)}</code> is ${assertion.is}${assertion.value === undefined ? "" : ` ${escapeHtml(JSON.stringify(assertion.value))}`} on ${escapeHtml(assertion.url)}`,
        ]
      : []),
    ...(outcome
      ? [
          `check of revision ${outcome.revision} of ${escapeHtml(outcome.variant)}: ${outcome.status}${outcome.message === null ? "" : `, ${escapeHtml(outcome.message)}`}`,
        ]
      : []),
    ...(evidenceIds.length > 0 ? [`evidence: ${escapeHtml(evidenceIds.join(", "))}`] : []),
    ...(note ? [escapeHtml(note)] : []),
  ];
  return `<li><span dir="auto">${escapeHtml(`${id}: ${text}`)}</span> <span class="${STATUS_CLASSES[status]}">${status}</span><div class="soft">${lines.join("<br>")}</div></li>`;
}

/**
 * Writes the reports with their findings, steps and pictures. Parsing Markdown takes time, so the event loop can serve
 * other requests after each finding.
 */
export async function* writeReports(content: SessionContent, pictures: Pictures): AsyncIterable<string> {
  for await (const report of content.reports()) {
    yield renderReportHead(report);
    for (const finding of report.findings) {
      yield renderFinding(finding);
      for (const evidence of finding.evidence) yield await pictures.show(evidence);
      yield "</div>\n";
      await setImmediate();
    }
    yield "</div>\n";
  }
}

function renderReportHead({ title, version, createdAt, tested, summary, findings }: ExportedReport): string {
  const variants = tested.map(
    ({ variant, revision, check }) =>
      `<li>Variant ${escapeHtml(variant)}, revision ${revision}, ${check ? `check: ${check.status}` : "not checked"}</li>`,
  );
  const list = variants.length === 0 ? "" : folded("Tested", `<ul>${variants.join("")}</ul>`, true);
  const count = countOf(findings.length, "finding");
  return `<div class="card"><h3 dir="auto">${escapeHtml(title)}</h3><p class="soft">Version ${version}, ${renderTime(createdAt)}, ${count}.</p>${renderMarkdown(summary)}${list}\n`;
}

const SEVERITY_CLASSES = { critical: "fail", serious: "fail", moderate: "warn", minor: "soft", info: "soft" };

function renderFinding({
  severity,
  title,
  detail,
  url,
  selector,
  steps,
}: ExportedReport["findings"][number]) {
  const facts = [
    ...(url === null ? [] : [escapeHtml(url)]),
    ...(selector === null ? [] : [element("code", escapeHtml(selector))]),
  ];
  const list = steps.map((step) => `<li dir="auto">${escapeHtml(step)}</li>`).join("");
  return `<div class="finding"><h4><span class="${SEVERITY_CLASSES[severity]}">${severity}</span> <span dir="auto">${escapeHtml(title)}</span></h4>${facts.length === 0 ? "" : `<p class="soft">${facts.join("<br>")}</p>`}${renderMarkdown(detail)}${list === "" ? "" : `<p class="soft">Steps</p><ol class="changes">${list}</ol>`}`;
}

/**
 * Lists the landing pages with their URLs and states. The URLs are plain text. The files of the pages are not included.
 */
export async function* writePages({ pages }: SessionContent): AsyncIterable<string> {
  if (pages.length === 0) return;
  const items = pages.map(({ url, version, note }) => {
    const state = version === null ? "unpublished" : `version ${version}`;
    return `<li>${escapeHtml(url)} <span class="soft">${state}</span>${note === null ? "" : `<div class="soft" dir="auto">${escapeHtml(note)}</div>`}</li>`;
  });
  yield `<div class="card"><ul class="changes">${items.join("")}</ul></div>\n`;
}
