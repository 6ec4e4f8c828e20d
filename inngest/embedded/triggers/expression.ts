/** What an expression may speak of: for waits and cancellations `event` started the run and `async` has just come. */
export type ExpressionScope = { event: unknown; async?: unknown };

/** A compiled expression: the value it has for a scope. */
export type Expression = (scope: ExpressionScope) => unknown;

const TOKEN =
  /\s*(?:(\d+(?:\.\d+)?)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([A-Za-z_]\w*)|(&&|\|\||[=!<>]=|[<>!().[\],-]))/y;

type Token = { kind: "number" | "string" | "name" | "sign"; text: string };

function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (source.slice(TOKEN.lastIndex).trim() !== "") {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (!match) throw new Error(`Unexpected "${source.slice(at).trim()}" in the expression "${source}".`);
    const [, number, string, name, sign] = match;
    if (number !== undefined) tokens.push({ kind: "number", text: number });
    else if (string !== undefined) tokens.push({ kind: "string", text: string });
    else if (name !== undefined) tokens.push({ kind: "name", text: name });
    else tokens.push({ kind: "sign", text: sign ?? "" });
  }
  return tokens;
}

const unquote = (text: string) => text.slice(1, -1).replace(/\\(.)/g, "$1");

/** A field of a value by its own key; null where there is none. */
function field(value: unknown, key: unknown): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, String(key))) return null;
  return (value as Record<string, unknown>)[String(key)] ?? null;
}

function areEqual(left: unknown, right: unknown): boolean {
  if (typeof left === "object" && typeof right === "object")
    return JSON.stringify(left) === JSON.stringify(right);
  return left === right;
}

function isOrdered(left: unknown, right: unknown, sign: string): boolean {
  const comparable =
    (typeof left === "number" && typeof right === "number") ||
    (typeof left === "string" && typeof right === "string");
  if (!comparable) return false;
  if (sign === "<") return left < right;
  if (sign === "<=") return left <= right;
  return sign === ">" ? left > right : left >= right;
}

/**
 * Compiles the part of CEL that function triggers, waits and cancellations use: paths, literals, lists, `== != < <= >
 * >= in && || !` and parentheses. A path that leads nowhere is null.
 *
 * @throws with a sentence when the expression is anything else.
 */
export function compileExpression(source: string): Expression {
  const tokens = tokenize(source);
  let at = 0;
  const fail = (): never => {
    throw new Error(
      `Unexpected ${tokens[at] ? `"${tokens[at]?.text}"` : "end"} in the expression "${source}".`,
    );
  };
  const isNext = (text: string) => tokens[at]?.text === text && tokens[at]?.kind !== "string";
  const accept = (text: string) => isNext(text) && ++at > 0;
  const expect = (text: string) => accept(text) || fail();

  function literalOrPath(): Expression {
    const token = tokens[at++];
    if (!token) return fail();
    if (token.kind === "number") return () => Number(token.text);
    if (token.kind === "string") return () => unquote(token.text);
    if (token.text === "(") {
      const inner = disjunction();
      expect(")");
      return inner;
    }
    if (token.text === "[") {
      const items: Expression[] = [];
      while (!accept("]")) {
        items.push(disjunction());
        if (!isNext("]")) expect(",");
      }
      return (scope) => items.map((item) => item(scope));
    }
    if (token.text === "true" || token.text === "false") return () => token.text === "true";
    if (token.text === "null") return () => null;
    if (token.text === "event" || token.text === "async") {
      const root = token.text;
      return (scope) => scope[root] ?? null;
    }
    at--;
    return fail();
  }

  function path(): Expression {
    let value = literalOrPath();
    for (;;) {
      const owner = value;
      if (accept(".")) {
        const name = tokens[at++];
        if (name?.kind !== "name") return fail();
        value = (scope) => field(owner(scope), name.text);
      } else if (accept("[")) {
        const key = disjunction();
        expect("]");
        value = (scope) => field(owner(scope), key(scope));
      } else return value;
    }
  }

  function negation(): Expression {
    if (accept("!")) {
      const inner = negation();
      return (scope) => inner(scope) !== true;
    }
    if (accept("-")) {
      const inner = negation();
      return (scope) => -Number(inner(scope));
    }
    return path();
  }

  function comparison(): Expression {
    const left = negation();
    const sign = ["==", "!=", "<=", ">=", "<", ">", "in"].find(accept);
    if (!sign) return left;
    const right = negation();
    if (sign === "==") return (scope) => areEqual(left(scope), right(scope));
    if (sign === "!=") return (scope) => !areEqual(left(scope), right(scope));
    if (sign !== "in") return (scope) => isOrdered(left(scope), right(scope), sign);
    return (scope) => {
      const list = right(scope);
      return Array.isArray(list) && list.some((item) => areEqual(item, left(scope)));
    };
  }

  function conjunction(): Expression {
    let left = comparison();
    while (accept("&&")) {
      const [first, second] = [left, comparison()];
      left = (scope) => first(scope) === true && second(scope) === true;
    }
    return left;
  }

  function disjunction(): Expression {
    let left = conjunction();
    while (accept("||")) {
      const [first, second] = [left, conjunction()];
      left = (scope) => first(scope) === true || second(scope) === true;
    }
    return left;
  }

  const compiled = disjunction();
  if (at < tokens.length) fail();
  return compiled;
}
