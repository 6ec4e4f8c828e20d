const HAS_MAX = 1;
const COMPOUND_PARTS_MAX = 12;

/**
 * Returns why a selector is malformed or would slow down the page too much. Returns undefined if neither is the case.
 * The browser checks the rest of the syntax. Besides CSS, a selector may contain ` >> ` and parts such as `nth=1`.
 */
export function findSelectorProblem(selector: string): string | undefined {
  const parts = selector.split(/\s*>>\s*/);
  if (parts.some((part) => part.trim() === "")) return "has an empty part before or after >>";
  for (const part of parts) {
    const problem = findPartProblem(part);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function findPartProblem(part: string): string | undefined {
  // Characters in escapes and quoted strings have no syntactic meaning.
  const bare = part.replace(/\\./gs, "x").replace(/"[^"\n]*"|'[^'\n]*'/g, "x");
  if (/["']/.test(bare)) return "has a quotation mark that is not closed";
  if (bare.includes("\\")) return "must not end with a backslash";
  if (/[{}]|\/\*/.test(bare)) return "must not have braces or comments";
  if (!isBalanced(bare)) return "has brackets that are not balanced";
  const hasCount = bare.match(/:has\(/gi)?.length ?? 0;
  if (hasCount > HAS_MAX) return "must have at most one :has(), as more slow the page down";
  // With this combination, Chromium compares each element with each of its siblings and cannot be interrupted.
  if (hasCount > 0 && bare.includes("~")) return "must not combine :has() with ~, as that can hang the page";
  const compounds = bare.split(/[\s>+~,()]+/).filter((compound) => compound !== "").length;
  if (compounds > COMPOUND_PARTS_MAX) return `must have at most ${COMPOUND_PARTS_MAX} parts`;
  return undefined;
}

function isBalanced(text: string): boolean {
  const open: string[] = [];
  for (const character of text) {
    if (character === "(") open.push(")");
    if (character === "[") open.push("]");
    if ((character === ")" || character === "]") && open.pop() !== character) return false;
  }
  return open.length === 0;
}
