import { USER_TOKEN_PATTERN } from "#lib/secrets/user-token.ts";

/** Values under such a name count as secrets from 8 characters on; values under other names from 20 characters on. */
const SECRET_NAME = /auth|key|token|secret|cookie|password|credential|session/i;
const SECRET_LENGTH_MIN = 8;
const ANY_LENGTH_MIN = 20;

const REDACTED = "[redacted]";

/**
 * Creates a function that redacts secrets in a server's output, so that the model never sees them: values of the server's
 * headers and URL query, and the service's user tokens. Source: `security.md`, What comes in.
 */
export function createRedactor({
  headers,
  url,
}: {
  headers: Readonly<Record<string, string>>;
  url: string;
}): (text: string) => string {
  const secrets = [...Object.entries(headers), ...readQuery(url)].flatMap(([name, value]) => {
    const least = SECRET_NAME.test(name) ? SECRET_LENGTH_MIN : ANY_LENGTH_MIN;
    return [value.trim(), ...value.split(/[\s,;]+/)].filter((part) => part.length >= least);
  });
  // Longest first: replacing a shorter secret first would leave the rest of a longer one readable.
  const ordered = [...new Set(secrets)].sort((one, other) => other.length - one.length);
  return (text) =>
    ordered
      .reduce((left, secret) => left.replaceAll(secret, REDACTED), text)
      .replaceAll(USER_TOKEN_PATTERN, REDACTED);
}

/** The query parameters of a URL, with both their raw and their decoded values. */
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

/** Redacts all strings in a JSON value, except field names. It recurses, so the caller must limit the nesting. */
export function redactStrings<Value>(value: Value, redact: (text: string) => string): Value {
  const convert = (item: unknown): unknown => {
    if (typeof item === "string") return redact(item);
    if (Array.isArray(item)) return item.map(convert);
    if (typeof item === "object" && item !== null)
      return Object.fromEntries(Object.entries(item).map(([name, inner]) => [name, convert(inner)]));
    return item;
  };
  // Only the contents of strings change, so the type stays the same.
  return convert(value) as Value;
}
