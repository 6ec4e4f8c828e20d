/**
 * Compiles the regular expression of a JSON Schema (`pattern`, `patternProperties`) in Unicode mode, as JSON Schema
 * recommends: `\p{L}` is a letter, and a character outside the BMP is one character. Unicode mode refuses notations that
 * many published patterns contain, such as `\-`, `[\w-.]` and `a}`. These are rewritten to their equivalents. Only a
 * pattern that cannot be rewritten is compiled without Unicode mode, in which `\p{L}` would be the text `p{L}`.
 *
 * @returns undefined if the pattern is not a regular expression.
 */
export function compileCallerPattern(pattern: string): RegExp | undefined {
  return compileUnicodePattern(pattern) ?? compile(pattern, "");
}

/** Like {@link compileCallerPattern}, but returns undefined for a pattern that only compiles without Unicode mode. */
export const compileUnicodePattern = (pattern: string): RegExp | undefined =>
  compile(pattern, "u") ?? compile(escapeForUnicodeMode(pattern), "u");

function compile(pattern: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return undefined;
  }
}

/**
 * Matches one unit of a pattern: an escape with braces or a name, any other escape, a quantifier with braces, or one
 * character.
 */
const UNIT = /\\[pPu]\{[^}]*\}|\\k<[^>]*>|\\c[A-Za-z]|\\.|\{\d+(?:,\d*)?\}|./gsu;
const CLASS_ESCAPE = /^\\[dDsSwWpP]/;
/** An escaped character that stands for itself, and that Unicode mode accepts only without the backslash. */
const SELF_ESCAPE = /^\\[^A-Za-z0-9^$\\.*+?()[\]{}|/]$/u;

/** Rewrites notations that mean the same, and are valid, in Unicode mode. Everything else stays as it is. */
function escapeForUnicodeMode(pattern: string): string {
  const units = pattern.match(UNIT) ?? [];
  let isInClass = false;
  return units
    .map((unit, index) => {
      if (!isInClass) {
        isInClass = unit === "[";
        if (unit === "{" || unit === "}" || unit === "]") return `\\${unit}`;
        return SELF_ESCAPE.test(unit) ? unit.slice(1) : unit;
      }
      isInClass = unit !== "]";
      if (unit === "\\-") return unit;
      // A hyphen next to a class such as `\w` is no range.
      const isBesideClass = [units[index - 1], units[index + 1]].some((next) =>
        CLASS_ESCAPE.test(next ?? ""),
      );
      if (unit === "-" && isBesideClass) return "\\-";
      return SELF_ESCAPE.test(unit) ? unit.slice(1) : unit;
    })
    .join("");
}
