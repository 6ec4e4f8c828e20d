import { buildValue } from "../build-value.ts";
import { collectFacts, type PageFacts } from "../page-facts.ts";
import type { DemoStep, Situation } from "../situation.ts";
import { quote } from "../write-demo-report.ts";

const READING_TOOLS = new Set(["browser_execute", "dom_query", "fetch_url"]);

/**
 * Plans the next step of a sub-agent. A sub-agent reads its page like any session, reports progress once, and submits
 * its findings. If there is a result schema, the findings are a value for this schema. If no tool call has read the
 * page, if such a call failed, or if the submission was refused, the turn ends with a report.
 *
 * @param step the next step that the planner would choose in a session that is not a sub-agent.
 */
export function planSubAgent(situation: Situation, step: DemoStep): DemoStep {
  if (step.kind === "calls") return step;
  const { exchanges, tools, resultSchema } = situation;
  const submission = exchanges.findLast(({ toolName }) => toolName === "submit_result");
  if (submission !== undefined) {
    const answer = submission.result?.text ?? "no answer";
    return { kind: "report", text: `My result was not accepted: ${quote(answer, 500)}\n\n${step.text}` };
  }
  const readings = exchanges.filter(({ toolName }) => READING_TOOLS.has(toolName));
  if (readings.length === 0 || readings.some(({ result }) => result === undefined || result.isError))
    return step;

  const facts = collectFacts(situation);
  if (tools.has("report_progress") && !exchanges.some(({ toolName }) => toolName === "report_progress")) {
    const text = describeProgress(facts);
    return {
      kind: "calls",
      say: "I have read the page.",
      calls: [{ toolName: "report_progress", input: { text } }],
    };
  }
  const result = resultSchema === undefined ? step.text : buildValue(resultSchema, facts);
  return {
    kind: "calls",
    say: "I submit what I read.",
    calls: [{ toolName: "submit_result", input: { result } }],
  };
}

function describeProgress({ title, url, headings, links, fields, products }: PageFacts): string {
  const counts = [
    `headings: ${headings.length}`,
    `links: ${links.length}`,
    `form fields: ${fields.length}`,
    `prices: ${products.length}`,
  ];
  return `Read ${(title ?? url ?? "the page").slice(0, 200)} (${counts.join(", ")}).`;
}
