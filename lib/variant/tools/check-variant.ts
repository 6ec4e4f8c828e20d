import { quoteAsData } from "#lib/tools/quote-as-data.ts";
import { defineTool, errorResult, type Tool, textResult } from "#lib/tools/tool.ts";
import { checkOptionsSchema } from "../check/check-options.ts";
import type { CheckReport } from "../check/check-report.ts";
import { describeUnaccepted, hasFailure, listUnaccepted, listUnexamined } from "../check/conclude-check.ts";
import { DEFAULT_VARIANT, variantKeySchema } from "../document.ts";
import { runCheck } from "../run-check.ts";
import type { VariantToolServices } from "../variants-deps.ts";

const FINDINGS_SHOWN = 30;

const { viewports, tag, pages, allowSubmits } = checkOptionsSchema.shape;
/** The options, with descriptions that are short, because they are sent with every model call. */
const checkInput = checkOptionsSchema.extend({
  variant: variantKeySchema.default(DEFAULT_VARIANT).meta({ description: "main by default" }),
  viewports: viewports.meta({ description: "desktop and phone by default" }),
  tag: tag.meta({ description: "async; blocking only if a person has chosen it" }),
  pages: pages.meta({ description: "what to click (selectors) before the look: menus, tabs, dialogs" }),
  allowSubmits: allowSubmits.meta({
    description: "send requests with effects; only if a person asked for it",
  }),
});

/**
 * `check_variant`: checks the newest revision on fresh loads of its pages.
 * Source: specification, Structured sessions; `architecture.md`, Variants.
 */
export const checkVariantTool = (services: VariantToolServices): Tool => ({
  ...defineTool({
    name: "check_variant",
    description:
      "Proves the newest revision on fresh loads of its pages: every change applies, survives the page's rendering and navigation, and reverts; no new errors, layout or accessibility defects. Returns pass, warn or fail with each finding. What could not be examined fails until a person or the caller accepts it.",
    input: checkInput,
    idempotent: true,
    readOnly: false,
    changes: false,
    timeoutMs: 240_000,
    async execute(options, call) {
      const checked = await runCheck(services, call, options);
      return checked.ok
        ? textResult(describeReport(checked.report))
        : errorResult(`check_variant: ${checked.problem}`);
    },
  }),
  acquire: services.hold,
});

const ADVICE = {
  pass: "Every change was proved. The variant is done unless the task asks for more.",
  warn: "Every change was proved; the warnings do not hinder it. Tell people of them.",
  fail: "Correct the cause of each fail with apply_variant, and check again. The pictures show what people see.",
} as const;

const ASK =
  "Ask the person to accept this in the check on the session page, and tell them why it was not examined; you cannot accept it yourself. Or change the variant so that the check can examine it.";

/** Says what to do next. A check is passed only if each change was proved, or its acceptance is recorded. */
function advise(report: CheckReport): string {
  const { status, findings } = report;
  if (status !== "fail")
    return listUnexamined(report).size === 0
      ? ADVICE[status]
      : `Nothing failed. What was not examined has been accepted: ${[...listUnexamined(report).keys()].join(", ")}. Tell people of the warnings.`;
  if (listUnaccepted(report).length === 0) return ADVICE.fail;
  const unaccepted = `The check has ${describeUnaccepted(report)}. ${ASK}`;
  return hasFailure(findings) ? `${ADVICE.fail} ${unaccepted}` : `Nothing failed. ${unaccepted}`;
}

/** Describes a report for the model: the outcome first, then each finding. */
function describeReport(report: CheckReport): string {
  const { variant, revision, status, findings, pages, notes, requirements = [] } = report;
  const shown = findings.slice(0, FINDINGS_SHOWN).map((finding) => {
    const { level, code, changeId, url, viewport, message, picture } = finding;
    const where = [changeId, viewport, url].filter((part) => part !== null).join(", ");
    return `- ${level} ${code} (${where}): ${message}${picture ? ` (evidence: ${picture.id})` : ""}`;
  });
  if (findings.length > shown.length) shown.push(`- and ${findings.length - shown.length} more`);
  const proved = pages.map(
    ({ url, viewport, changes, pictures }) =>
      `- ${url} (${viewport}): ${changes.map(describeOutcome).join(", ") || "no changes"}${describePictures(pictures)}`,
  );
  const examined = ["Examined:", ...proved, ...notes.map((note) => `- ${note}`)];
  return [
    `Check of revision ${revision} of variant ${variant}: ${status}.`,
    quoteAsData("the pages", [...shown, ...examined].join("\n")),
    ...requirements.map(({ id, status: found }) => `- requirement ${id}: ${found}`),
    advise(report),
  ].join("\n");
}

function describeOutcome({ id, outcome, accepted }: CheckReport["pages"][number]["changes"][number]): string {
  if (outcome === undefined) return `${id} unknown`;
  return `${id} ${outcome.replace("_", " ")}${accepted ? " (accepted)" : ""}`;
}

/**
 * Lists the evidence ids of the pictures of a page without and with the variant. With an id, the model can view a
 * picture and cite it as evidence for a requirement.
 */
function describePictures({ before, after }: CheckReport["pages"][number]["pictures"]): string {
  const ids = [before && `before ${before.id}`, after && `after ${after.id}`].filter((part) => part !== null);
  return ids.length === 0 ? "" : `; evidence: ${ids.join(", ")}`;
}
