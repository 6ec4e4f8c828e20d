import { USER_TOKEN_PATTERN } from "#lib/secrets/user-token.ts";

/**
 * Matches the names of headers and query parameters that usually contain a secret. A value with such a name is a secret
 * if it has at least 8 characters. Any other value is a secret if it has at least 20 characters.
 */
const SECRET_NAME = /auth|key|token|secret|cookie|password|credential|session/i;
const SECRET_LENGTH_MIN = 8;
const ANY_LENGTH_MIN = 20;

const REDACTED = "[redacted]";

/**
 * Creates a function that redacts secrets in a server's output, so that the model never sees them. Secrets are values
 * of the headers and URL query sent to the server, OAuth tokens and client secrets, and the service's user tokens. Source: `security.md`, What comes in.
 */
export function createRedactor({
  headers,
  url,
  tokens = [],
}: {
  headers: Readonly<Record<string, string>>;
  url: string;
  /** Further secrets, such as access tokens. */
  tokens?: readonly string[];
}): (text: string) => string {
  const named = tokens.map((token): [string, string] => ["token", token]);
  const secrets = [...Object.entries(headers), ...readQuery(url), ...named].flatMap(([name, value]) => {
    const least = SECRET_NAME.test(name) ? SECRET_LENGTH_MIN : ANY_LENGTH_MIN;
    return [value.trim(), ...value.split(/[\s,;]+/)].filter((part) => part.length >= least);
  });
  // Longest first: if a secret contains a shorter one, replacing the shorter one first would leave the rest readable.
  const ordered = [...new Set(secrets)].sort((one, other) => other.length - one.length);
  return (text) =>
    ordered
      .reduce((left, secret) => left.replaceAll(secret, REDACTED), text)
      .replaceAll(USER_TOKEN_PATTERN, REDACTED);
}

/** Lists the query parameters of a URL, each with its raw value and with its decoded value. */
function readQuery(url: string): [name: string, value: string][] {
  const { search, searchParams } = new URL(url);
  const written = search
    .slice(1)
    .split("&")
    .map((parameter): [string, string] => {
      const at = parameter.indexOf("=");
      // A parameter without a name may itself be a token.
      return at < 0 ? ["token", parameter] : [parameter.slice(0, at), parameter.slice(at + 1)];
    });
  return [...written, ...searchParams];
}

/** Redacts all strings in a JSON value except field names. The function is recursive, so callers must limit the nesting. */
export function redactStrings<Value>(value: Value, redact: (text: string) => string): Value {
  const convert = (item: unknown): unknown => {
    if (typeof item === "string") return redact(item);
    if (Array.isArray(item)) return item.map(convert);
    if (typeof item === "object" && item !== null)
      return Object.fromEntries(Object.entries(item).map(([name, inner]) => [name, convert(inner)]));
    return item;
  };
  // The cast is safe: only the contents of strings have changed.
  return convert(value) as Value;
}
