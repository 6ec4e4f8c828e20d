import { toQuery } from "#lib/injected/relax-selector.ts";
import type { CompiledNode } from "#lib/injected/runtime/runtime-types.ts";
import type { SeenCss } from "#lib/injected/tools/examine-css.ts";
import { oneLine } from "#lib/text/one-line.ts";
import { shorten } from "#lib/text/shorten.ts";
import { evaluateIn } from "#lib/tools/browser/page-kit/evaluate-in-frame.ts";
import type { PageFrame } from "#lib/tools/browser/page-kit/page-frame.ts";
import { findSelectorProblem } from "../compile/check-selector.ts";
import { compileHtml } from "../compile/compile-html.ts";
import type { Change, VariantPage } from "../document.ts";
import { type Declaration, readCss } from "./read-css.ts";

/** Styles to examine, and the words that say where they are. */
type Styles = {
  place: string;
  rules: { selector: string | null; declarations: Declaration[] }[];
  unknownAtRules: string[];
};

const PROBLEMS_SHOWN = 15;
const PROBLEM_CHARS_MAX = 200;
/** Time limit for the examination in the page. */
const EXAMINE_MS_MAX = 3_000;
/** Names and values for browsers of other vendors, which Chromium does not know. */
const VENDOR = /^-|(^|[\s,(])-(moz|ms|o|khtml)-/i;

/**
 * Lists what a browser ignores in the style sheets of `pages` and in the styles that `changes` bring: unknown
 * properties, invalid values, invalid selectors, and selectors that match no element of the page in any state. Each
 * problem is one line. The page has to show the variant already, because its style sheets may be for elements that it
 * inserts.
 */
export async function findCssProblems(
  main: PageFrame,
  pages: readonly VariantPage[],
  changes: readonly Change[],
): Promise<string[]> {
  const styles = [...pages.flatMap(readSheet), ...changes.flatMap(readStyles)];
  if (styles.length === 0) return [];
  const rules = styles.flatMap((each) => each.rules);
  const selectors = rules.flatMap(({ selector }) => (selector === null ? [] : [pairWithQuery(selector)]));
  const declarations = rules.flatMap((rule) => rule.declarations.map(({ name, value }) => [name, value]));
  const seen = await evaluateIn(main, "examineCss", { selectors, declarations }, EXAMINE_MS_MAX).catch(
    (error: unknown) => {
      if (/terminated/i.test(String(error))) return undefined;
      throw error;
    },
  );
  if (!seen) return ["The css was not examined, because its selectors are slow on this page."];
  const problems = [...new Set(styles.flatMap((each) => describeStyles(each, seen)))];
  const shown = problems.slice(0, PROBLEMS_SHOWN).map((line) => shorten(oneLine(line), PROBLEM_CHARS_MAX));
  const more = problems.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more`] : shown;
}

const readSheet = ({ url, css }: VariantPage): Styles[] =>
  css.trim() === "" ? [] : [{ place: `css of ${url}`, ...readCss(css) }];

/**
 * Reads the styles that a change brings: those of `setStyle` (which the runtime examines only on an element that
 * exists), a style attribute, and the style attributes and style elements of its HTML.
 */
function readStyles(change: Change): Styles[] {
  const place = `${change.id} ${change.op}`;
  if (change.op === "setStyle") {
    const declarations = Object.entries(change.style).map(([name, value]) => `${name}: ${value}`);
    return readAttribute(place, declarations.join(";"));
  }
  if (change.op === "setAttribute")
    return change.name.toLowerCase() === "style" ? readAttribute(place, change.value) : [];
  if (!("html" in change)) return [];
  const compiled = compileHtml(change.html);
  return "problem" in compiled ? [] : compiled.nodes.flatMap((node) => readNode(place, node));
}

function readNode(place: string, node: CompiledNode): Styles[] {
  if (typeof node === "string") return [];
  const [tag, { style = "" }, children] = node;
  const own = readAttribute(`${place}, style of <${tag}>`, style);
  if (tag !== "style") return [...own, ...children.flatMap((child) => readNode(place, child))];
  const text = children.filter((child) => typeof child === "string").join("");
  return [...own, { place: `${place}, <style>`, ...readCss(text) }];
}

function readAttribute(place: string, text: string): Styles[] {
  const [rule] = readCss(`x{${text}}`).rules;
  return rule ? [{ place, rules: [{ ...rule, selector: null }], unknownAtRules: [] }] : [];
}

/** A selector as it is written, and a selector for the same elements in any state. Null if it must not be run. */
const pairWithQuery = (selector: string): [string, string | null] => {
  const query = toQuery(selector);
  return [selector, query !== null && findSelectorProblem(query) === undefined ? query : null];
};

function describeStyles({ place, rules, unknownAtRules }: Styles, seen: SeenCss): string[] {
  return [
    ...unknownAtRules.map((name) => `${place}: ${name} has no effect here.`),
    ...rules.flatMap(({ selector, declarations }) => {
      if (selector === null) return describeDeclarations(place, declarations, seen);
      const where = `${place}, ${JSON.stringify(selector)}`;
      const found = seen.selectors[selector];
      const ignored = describeDeclarations(where, declarations, seen);
      if (found?.isValid === false)
        return [`${where}: the selector is invalid, so the browser ignores the rule.`, ...ignored];
      return found?.isMatched === false
        ? [`${where}: matches no element of this page.`, ...ignored]
        : ignored;
    }),
  ];
}

function describeDeclarations(where: string, declarations: Declaration[], { ignored }: SeenCss): string[] {
  const find = ({ name, value }: Declaration) => ignored[`${name}:${value}`];
  return declarations.flatMap((declaration) => {
    const { name, value } = declaration;
    const found = find(declaration);
    if (!found || VENDOR.test(name) || VENDOR.test(value)) return [];
    // With another declaration of the property that is valid, the ignored one is for other browsers.
    if (declarations.some((other) => other.name === name && !find(other))) return [];
    if (value === "") return [`${where}: ${JSON.stringify(name)} is not a declaration with a value.`];
    return found.isKnown
      ? [`${where}: ${JSON.stringify(value)} is not a value of ${name}.`]
      : [`${where}: ${JSON.stringify(name)} is not a property that the browser knows.`];
  });
}
