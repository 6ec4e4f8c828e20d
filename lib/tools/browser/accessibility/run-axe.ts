import type axeModule from "axe-core";
import { type Dom, makeDom } from "#lib/dom/make-dom.ts";
import { type BeginningOf, beginningOf } from "#lib/text/whole-characters.ts";
import type { PageFrame } from "#lib/tools/browser/page-kit/page-frames.ts";

type AxeOptions = {
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

/** The findings in one frame. `undecided` lists the rules for which axe cannot tell whether the frame passes. */
export type FrameFindings = {
  frame: string;
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

/**
 * The error for a page whose fields or images hide members that axe-core reads from nodes, such as
 * `<input name=nodeName>`.
 */
export class HiddenMembersError extends Error {
  override name = "HiddenMembersError";
  constructor(member: string) {
    super(
      `the accessibility rules cannot read this page: an element named ${member} hides a member of its form or of the document`,
    );
  }
}

/**
 * Runs axe-core in a frame, in an isolated world that the page's scripts cannot touch. Inner frames are not checked.
 *
 * @throws HiddenMembersError. Also Error with a readable message if a selector is invalid or matches nothing, or if the
 * frame is gone.
 */
export async function runAxe(
  { session, contextId }: Pick<PageFrame, "session" | "contextId">,
  options: AxeOptions,
): Promise<Omit<FrameFindings, "frame">> {
  // Loaded on demand, because axe-core is half a megabyte of source and few sessions need it.
  const { default: axe } = await import("axe-core");
  await session.send("Runtime.evaluate", { expression: axe.source, contextId });
  const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
    expression: `(${checkDocument})(${JSON.stringify(options)}, ${beginningOf}, (${makeDom})())`,
    contextId,
    awaitPromise: true,
    returnByValue: true,
  });
  if (exceptionDetails) {
    const { exception, text } = exceptionDetails;
    throw new Error((exception?.description ?? text).split("\n")[0]);
  }
  // The cast is safe, because the value is the result of `checkDocument`.
  const value = result.value as Awaited<ReturnType<typeof checkDocument>>;
  if ("hiddenMember" in value) throw new HiddenMembersError(value.hiddenMember);
  return value;
}

declare const axe: typeof axeModule;

/**
 * This function is sent to the page as source and runs there, so it must not use anything of this file outside its own
 * body. The global variable `axe` exists in the page's frame, because `runAxe` has loaded axe-core there.
 */
async function checkDocument(
  { tags, parts, without = [], elementsPerRule, isUnseenTextBroken = false }: AxeOptions,
  beginOf: BeginningOf,
  dom: Dom,
): Promise<Omit<FrameFindings, "frame"> | { hiddenMember: string }> {
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
  const isUnseen = ({ any }: axeModule.NodeResult) =>
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
  const cut = (text: string, length: number) => (text.length > length ? `${beginOf(text, length)}…` : text);
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
