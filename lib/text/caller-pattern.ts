/**
 * Compiles the regular expression of a JSON Schema (`pattern`, `patternProperties`) in Unicode mode, as JSON Schema
 * recommends: `\p{L}` is a letter, and a character outside the BMP is one character. Unicode mode refuses notations that
 * many published patterns contain, such as `\-`, `[\w-.]` and `a}`. These are rewritten to their equivalents, and so are
 * notations of other languages: `\A`, `\Z`, `(?P<name>…)`, `(?i)` at the start and `[[:alpha:]]`. Only a pattern that
 * cannot be rewritten is compiled without Unicode mode.
 *
 * @returns undefined if the pattern is not a regular expression, or has escapes that only other languages know.
 */
export function compileCallerPattern(pattern: string): RegExp | undefined {
  const unicode = compileUnicodePattern(pattern);
  if (unicode !== undefined || FOREIGN_ESCAPE.test(pattern)) return unicode;
  return compile(translate(pattern), "");
}

/**
 * Matches escapes of other languages that have no equivalent, such as `\h` and `\p{IsGreek}`. Without Unicode mode,
 * they would silently mean their letter.
 */
const FOREIGN_ESCAPE = /(?:^|[^\\])(?:\\\\)*\\(?![bBcdDfkKnrsStuvwWx])[A-Za-z]/;

/** Like {@link compileCallerPattern}, but returns undefined for a pattern that only compiles without Unicode mode. */
export const compileUnicodePattern = (pattern: string): RegExp | undefined =>
  compileTranslated(translate(pattern));

const compileTranslated = (pattern: string): RegExp | undefined =>
  compile(pattern, "u") ?? compile(escapeForUnicodeMode(pattern), "u");

const POSIX_CLASSES: Record<string, string> = {
  alnum: "A-Za-z0-9",
  alpha: "A-Za-z",
  blank: " \\t",
  digit: "0-9",
  lower: "a-z",
  space: "\\s",
  upper: "A-Z",
  word: "\\w",
  xdigit: "0-9A-Fa-f",
};

/** Matches an escape, the start of a group of Python, a POSIX class inside a class, or one character. */
const FOREIGN_UNIT = /\\.|\(\?P[<=]|\[:[a-z]+:\]|./gsu;

/** Rewrites notations of Python, Perl and POSIX to those of JavaScript. Everything else stays as it is. */
function translate(pattern: string): string {
  const [, flags, rest = pattern] = /^\(\?([ims]+)\)(.*)$/s.exec(pattern) ?? [];
  if (!/\\[AZz]|\(\?P[<=]|\[\[?\^?.*\[?:[a-z]+:\]/s.test(rest))
    return flags ? `(?${flags}:${rest})` : pattern;
  let isInClass = false;
  let isReference = false;
  const units = (rest.match(FOREIGN_UNIT) ?? []).map((unit) => {
    if (isReference && unit === ")") {
      isReference = false;
      return ">";
    }
    if (isInClass) {
      const posix = /^\[:([a-z]+):\]$/.exec(unit)?.[1];
      if (posix !== undefined) return POSIX_CLASSES[posix] ?? unit;
      isInClass = unit !== "]";
      return unit;
    }
    if (unit.startsWith("[")) isInClass = unit === "[";
    if (unit === "\\A") return "^";
    if (unit === "\\Z" || unit === "\\z") return "$";
    if (unit === "(?P<") return "(?<";
    if (unit !== "(?P=") return unit;
    isReference = true;
    return "\\k<";
  });
  return flags ? `(?${flags}:${units.join("")})` : units.join("");
}

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
