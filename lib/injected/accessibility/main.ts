/** The rules of axe-core, which run in an isolated world. A bundle of its own, because axe-core is large. */
import axe, { type NodeResult } from "axe-core";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { dom } from "../dom.ts";

/** What to check, and how much to report. */
export type AxeOptions = {
  tags: string[];
  /** CSS selectors of the parts to check. If there are none, the whole document is checked. */
  parts: string[];
  /** Ids of the axe rules to skip. */
  without?: string[];
  elementsPerRule: number;
  /**
   * Whether text in the colour of its background breaks the rule of contrast. Axe leaves this undecided, because pages
   * hide text in this way on purpose.
   */
  isUnseenTextBroken?: boolean;
};

/** The findings in one document. `undecided` lists the rules for which axe cannot tell whether the document passes. */
export type AxeFindings = {
  violations: {
    rule: string;
    impact: "minor" | "moderate" | "serious" | "critical" | null;
    help: string;
    helpUrl: string;
    tags: string[];
    count: number;
    elements: { selector: string; html: string; problem: string }[];
  }[];
  passed: number;
  undecided: string[];
};

/** Runs axe-core in this document. `hiddenMember` is the member that a field of the page hides, so that axe-core fails. */
export async function checkDocument({
  tags,
  parts,
  without = [],
  elementsPerRule,
  isUnseenTextBroken = false,
}: AxeOptions): Promise<AxeFindings | { hiddenMember: string }> {
  const findHiddenMember = (): string | undefined =>
    dom
      .querySelectorAll(document, "[name], [id]")
      .flatMap((element) => [dom.getAttribute(element, "name"), dom.getAttribute(element, "id")])
      .find((name) => name !== null && (name in HTMLFormElement.prototype || name in Document.prototype)) ??
    undefined;
  const missing = parts.find((part) => !dom.querySelector(document, part));
  if (missing !== undefined) throw new Error(`No element matches ${missing}.`);
  const exclude = ["[data-agent-session-overlay]"];
  const running = axe.run(
    { ...(parts.length > 0 && { include: parts }), exclude },
    {
      iframes: false,
      runOnly: { type: "tag", values: tags },
      rules: Object.fromEntries(without.map((rule) => [rule, { enabled: false }])),
      resultTypes: ["violations", "incomplete"],
    },
  );
  // If axe-core fails and a member is hidden, the hidden member is taken for the cause.
  const results = await running.catch((error: unknown) => {
    const hiddenMember = findHiddenMember();
    if (hiddenMember === undefined) throw error;
    return { hiddenMember };
  });
  if ("hiddenMember" in results) return results;
  const isUnseen = ({ any }: NodeResult) =>
    any.some(({ data }) => (data as { messageKey?: string } | null)?.messageKey === "equalRatio");
  const unseen = results.incomplete
    .filter(({ id }) => isUnseenTextBroken && id === "color-contrast")
    .map((result) => ({ ...result, nodes: result.nodes.filter(isUnseen) }))
    .filter(({ nodes }) => nodes.length > 0);
  const broken = [
    ...results.violations.map((result) => ({
      ...result,
      nodes: [...result.nodes, ...unseen.filter(({ id }) => id === result.id).flatMap(({ nodes }) => nodes)],
    })),
    ...unseen.filter(({ id }) => !results.violations.some((each) => each.id === id)),
  ];
  const cut = (text: string, length: number) =>
    text.length > length ? `${beginningOf(text, length)}…` : text;
  return {
    violations: broken.map(({ id, impact, help, helpUrl, tags: names, nodes }) => ({
      rule: id,
      impact: impact ?? null,
      help,
      helpUrl,
      count: nodes.length,
      // Lists only the requested tags of the rule.
      tags: names.filter((name) => tags.includes(name)),
      elements: nodes.slice(0, elementsPerRule).map(({ target, html, failureSummary }) => ({
        selector: cut(target.map(String).join(" >>> "), 500),
        html: cut(html, 500),
        problem: cut(failureSummary ?? "", 800),
      })),
    })),
    passed: results.passes.length,
    undecided: results.incomplete.map(({ id }) => id),
  };
}
