/** A declaration of a style sheet, without `!important`. */
export type Declaration = { name: string; value: string };

/**
 * A rule of a style sheet. The selector of a nested rule contains the selector of its parent, as `:is(…)`. It is null for
 * the rules of an animation, which match no elements.
 */
type CssRule = { selector: string | null; declarations: Declaration[] };

/** The rules of a style sheet as they are written, and the names of at-rules that have no effect. */
type ReadCss = { rules: CssRule[]; unknownAtRules: string[] };

/** At-rules that contain style rules. */
const GROUPS = ["media", "supports", "layer", "container", "scope", "starting-style"];
/** Animations. The rules in them have points in time instead of selectors. */
const KEYFRAMES = /^(-webkit-)?keyframes$/;
/** Further at-rules. What they contain is not read. */
const OTHERS =
  /^(charset|namespace|font-face|property|page|counter-style|font-feature-values|font-palette-values|view-transition|position-try|color-profile|function)$/;
/** Deeper blocks are not read. */
const DEPTH_MAX = 20;
const SELECTOR_CHARS_MAX = 5_000;
/** Further rules are not read. */
const RULES_MAX = 1_000;

/**
 * Reads a style sheet without dropping what a browser drops: invalid selectors, unknown properties and invalid values.
 * Takes linear time.
 */
export function readCss(text: string): ReadCss {
  const css = stripComments(text);
  const found: ReadCss = { rules: [], unknownAtRules: [] };
  let at = 0;
  /** Reads to the end of a statement: its `;`, its `{`, or the `}` of the block around it. */
  const readStatement = (): { text: string; end: string } => {
    const start = at;
    let depth = 0;
    for (; at < css.length; at++) {
      const character = css[at] ?? "";
      if (character === "\\") at++;
      else if (character === '"' || character === "'") at = endOfString(css, at);
      else if ("([".includes(character)) depth++;
      else if (")]".includes(character)) depth = Math.max(0, depth - 1);
      else if (character === "{" || character === "}" || (character === ";" && depth === 0))
        return { text: css.slice(start, at++).trim(), end: character };
    }
    return { text: css.slice(start).trim(), end: "" };
  };
  const skipBlock = () => {
    for (let depth = 1; depth > 0; ) {
      const { end } = readStatement();
      if (end === "") return;
      depth += end === "{" ? 1 : end === "}" ? -1 : 0;
    }
  };
  const readBlock = (rule: CssRule | undefined, depth: number, isAnimation = false): void => {
    for (;;) {
      const { text: statement, end } = readStatement();
      const atRule = /^@([\w-]+)/.exec(statement)?.[1]?.toLowerCase();
      if (atRule !== undefined) {
        const hasKeyframes = KEYFRAMES.test(atRule);
        const isGroup = hasKeyframes || GROUPS.includes(atRule);
        if (!isGroup && !OTHERS.test(atRule)) found.unknownAtRules.push(`@${atRule}`);
        if (end === "{" && isGroup && depth < DEPTH_MAX) readBlock(rule, depth + 1, hasKeyframes);
        else if (end === "{") skipBlock();
      } else if (end === "{") {
        const selector = isAnimation ? statement : nest(statement, rule?.selector ?? undefined);
        const isCustomProperty = statement.startsWith("--");
        const isTooMuch =
          selector.length > SELECTOR_CHARS_MAX || depth >= DEPTH_MAX || found.rules.length >= RULES_MAX;
        if (isCustomProperty || isTooMuch) skipBlock();
        else {
          const nested: CssRule = { selector: isAnimation ? null : selector, declarations: [] };
          found.rules.push(nested);
          readBlock(nested, depth + 1);
        }
      } else if (statement !== "") rule?.declarations.push(readDeclaration(statement));
      if (end === "" || end === "}") {
        // A stray `}` outside of all blocks does not end the sheet.
        if (end === "" || depth > 0) return;
      }
    }
  };
  readBlock(undefined, 0);
  return found;
}

/** Replaces comments with spaces, except inside strings. */
const stripComments = (css: string): string =>
  css.replace(
    /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|\/\*.*?(?:\*\/|$)/gs,
    (_, text?: string) => text ?? " ",
  );

/** Returns the index of the quotation mark or line break that ends the string at `start`. */
function endOfString(css: string, start: number): number {
  for (let at = start + 1; at < css.length; at++) {
    if (css[at] === "\\") at++;
    else if (css[at] === css[start] || css[at] === "\n") return at;
  }
  return css.length;
}

/** Returns a selector that means the same outside of the rule with the selector `parent`. */
function nest(selector: string, parent: string | undefined): string {
  if (parent === undefined) return selector.replaceAll("&", ":root");
  const around = `:is(${parent})`;
  return selector.includes("&") ? selector.replaceAll("&", around) : `${around} ${selector}`;
}

function readDeclaration(statement: string): Declaration {
  const colon = statement.indexOf(":");
  if (colon === -1) return { name: statement, value: "" };
  return {
    name: statement.slice(0, colon).trim(),
    value: statement
      .slice(colon + 1)
      .replace(/\s*!\s*important\s*$/i, "")
      .trim(),
  };
}
