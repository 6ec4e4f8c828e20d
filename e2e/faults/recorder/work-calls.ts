import type { StepToolCall } from "../../fixtures/scripted-model/types.ts";

/**
 * Lists the tool calls, in order, of a turn that plans, meets a requirement with a picture as evidence, deploys a page
 * and publishes a report. The ids of the requirement and of the picture come from the prompt. They are empty until the
 * prompt contains them.
 */
export function workCalls(nonce: string, url: string, prompt: string): StepToolCall[] {
  const evidenceId = [...prompt.matchAll(/evi_[a-z0-9]+/g)].at(-1)?.[0] ?? "";
  const requirementId = new RegExp(`\\b(r\\d+)\\b[^\\n]{0,40}need ${nonce}`).exec(prompt)?.[1] ?? "";
  const call = (name: string, input: Record<string, unknown>): StepToolCall => ({
    name,
    arguments: input,
    id: `call_${nonce}_${name}`,
  });
  const folder = `site-${nonce}`;
  return [
    call("update_plan", { items: [{ text: `plan ${nonce}`, status: "in_progress" }] }),
    call("add_requirements", { requirements: [{ text: `need ${nonce}` }] }),
    call("browser_execute", { script: `await page.goto(${JSON.stringify(url)})` }),
    call("screenshot", {}),
    call("update_requirement", { id: requirementId, status: "met", evidenceIds: [evidenceId] }),
    call("write_file", { path: `${folder}/index.html`, content: `<h1>${nonce}</h1>` }),
    call("deploy_landing_page", { folder }),
    call("publish_qa_report", {
      title: `report ${nonce}`,
      summary: "It works.",
      findings: [{ severity: "minor", title: nonce, detail: "Look.", evidenceIds: [evidenceId] }],
    }),
  ];
}

/** Creates a call that imports a document with one variant and one change. */
export const importCall = (nonce: string, url: string): StepToolCall => ({
  name: "import_legacy_session",
  arguments: { document: documentOf(nonce, url) },
  id: `call_${nonce}_i`,
});

const documentOf = (nonce: string, url: string) => ({
  format: "agent-session-variant",
  version: 1,
  variant: nonce,
  pages: [
    {
      url,
      match: "path",
      changes: [{ id: "c1", op: "setText", selector: "h1", text: nonce }],
      css: "",
      js: "",
    },
  ],
});
