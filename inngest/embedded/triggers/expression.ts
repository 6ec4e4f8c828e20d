/**
 * The events that an expression can read. In waits and cancellations, `event` is the event that started the run, and
 * `async` is the new event.
 */
export type ExpressionScope = { event: unknown; async?: unknown };

/** A compiled expression: computes its value for a scope. */
export type Expression = (scope: ExpressionScope) => unknown;

const TOKEN =
  /\s*(?:(\d+(?:\.\d+)?)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([A-Za-z_]\w*)|(&&|\|\||[=!<>]=|[<>!().[\],-]))/y;

type Token = { kind: "number" | "string" | "name" | "symbol"; text: string };

function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (source.slice(TOKEN.lastIndex).trim() !== "") {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (!match) throw new Error(`Unexpected "${source.slice(at).trim()}" in the expression "${source}".`);
    const [, number, string, name, symbol] = match;
    if (number !== undefined) tokens.push({ kind: "number", text: number });
    else if (string !== undefined) tokens.push({ kind: "string", text: string });
    else if (name !== undefined) tokens.push({ kind: "name", text: name });
    else tokens.push({ kind: "symbol", text: symbol ?? "" });
  }
  return tokens;
}

const unquote = (text: string) => text.slice(1, -1).replace(/\\(.)/g, "$1");

/** Reads an own property of a value; null if the value has no such property. */
function field(value: unknown, key: unknown): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, String(key))) return null;
  return (value as Record<string, unknown>)[String(key)] ?? null;
}

function areEqual(left: unknown, right: unknown): boolean {
  if (typeof left === "object" && typeof right === "object")
    return JSON.stringify(left) === JSON.stringify(right);
  return left === right;
}

function isOrdered(left: unknown, right: unknown, operator: string): boolean {
  const isComparable =
    (typeof left === "number" && typeof right === "number") ||
    (typeof left === "string" && typeof right === "string");
  if (!isComparable) return false;
  if (operator === "<") return left < right;
  if (operator === "<=") return left <= right;
  return operator === ">" ? left > right : left >= right;
}

/**
 * Compiles an expression in the part of CEL (Common Expression Language) that function triggers, waits and
 * cancellations use: paths, literals, lists, `== != < <= > >= in && || !` and parentheses. A path without a value is
 * null.
 *
 * @throws with a sentence for any other expression.
 */
export function compileExpression(source: string): Expression {
  const parser: Parser = { source, tokens: tokenize(source), at: 0 };
  const compiled = parseDisjunction(parser);
  if (parser.at < parser.tokens.length) fail(parser);
  return compiled;
}

/** A recursive-descent parser's position in its tokens. Each `parse…` function below reads one level of precedence. */
type Parser = { source: string; tokens: Token[]; at: number };

function fail({ source, tokens, at }: Parser): never {
  const found = tokens[at] ? `"${tokens[at].text}"` : "end";
  throw new Error(`Unexpected ${found} in the expression "${source}".`);
}

const isNext = ({ tokens, at }: Parser, text: string) =>
  tokens[at]?.text === text && tokens[at]?.kind !== "string";

/** Consumes the next token if it has this text. @returns whether the token was consumed. */
function accept(parser: Parser, text: string): boolean {
  if (!isNext(parser, text)) return false;
  parser.at++;
  return true;
}

function expect(parser: Parser, text: string): void {
  if (!accept(parser, text)) fail(parser);
}

function parseDisjunction(parser: Parser): Expression {
  let left = parseConjunction(parser);
  while (accept(parser, "||")) {
    const [first, second] = [left, parseConjunction(parser)];
    left = (scope) => first(scope) === true || second(scope) === true;
  }
  return left;
}

function parseConjunction(parser: Parser): Expression {
  let left = parseComparison(parser);
  while (accept(parser, "&&")) {
    const [first, second] = [left, parseComparison(parser)];
    left = (scope) => first(scope) === true && second(scope) === true;
  }
  return left;
}

function parseComparison(parser: Parser): Expression {
  const left = parseNegation(parser);
  const operator = ["==", "!=", "<=", ">=", "<", ">", "in"].find((text) => accept(parser, text));
  if (!operator) return left;
  const right = parseNegation(parser);
  if (operator === "==") return (scope) => areEqual(left(scope), right(scope));
  if (operator === "!=") return (scope) => !areEqual(left(scope), right(scope));
  if (operator !== "in") return (scope) => isOrdered(left(scope), right(scope), operator);
  return (scope) => {
    const list = right(scope);
    return Array.isArray(list) && list.some((item) => areEqual(item, left(scope)));
  };
}

function parseNegation(parser: Parser): Expression {
  if (accept(parser, "!")) {
    const inner = parseNegation(parser);
    return (scope) => inner(scope) !== true;
  }
  if (accept(parser, "-")) {
    const inner = parseNegation(parser);
    return (scope) => -Number(inner(scope));
  }
  return parsePath(parser);
}

function parsePath(parser: Parser): Expression {
  let value = parseOperand(parser);
  for (;;) {
    const owner = value;
    if (accept(parser, ".")) {
      const name = parser.tokens[parser.at++];
      if (name?.kind !== "name") return fail(parser);
      value = (scope) => field(owner(scope), name.text);
    } else if (accept(parser, "[")) {
      const key = parseDisjunction(parser);
      expect(parser, "]");
      value = (scope) => field(owner(scope), key(scope));
    } else return value;
  }
}

/** Parses a literal, a list, an expression in parentheses, or the first name of a path. */
function parseOperand(parser: Parser): Expression {
  if (accept(parser, "(")) {
    const inner = parseDisjunction(parser);
    expect(parser, ")");
    return inner;
  }
  if (accept(parser, "[")) return parseList(parser);
  const token = parser.tokens[parser.at];
  if (!token) return fail(parser);
  parser.at++;
  if (token.kind === "number") return () => Number(token.text);
  if (token.kind === "string") return () => unquote(token.text);
  if (token.text === "true" || token.text === "false") return () => token.text === "true";
  if (token.text === "null") return () => null;
  if (token.text === "event" || token.text === "async") {
    const root = token.text;
    return (scope) => scope[root] ?? null;
  }
  parser.at--;
  return fail(parser);
}

/** Parses the items of a list whose opening bracket is already consumed. */
function parseList(parser: Parser): Expression {
  const items: Expression[] = [];
  while (!accept(parser, "]")) {
    items.push(parseDisjunction(parser));
    if (!isNext(parser, "]")) expect(parser, ",");
  }
  return (scope) => items.map((item) => item(scope));
}
