import { USER_TOKEN_PATTERN } from "#lib/secrets/user-token.ts";

/** A header of such a name holds a secret, however short it is; any other one only where no word is as long. */
const SECRET_NAME = /auth|key|token|secret|cookie|password|credential|session/i;
const SECRET_LENGTH_MIN = 8;
const ANY_LENGTH_MIN = 20;

const REDACTED = "[redacted]";

/**
 * Makes a function that takes a server's own header values, values of its URL's query, and user tokens of ours, out of
 * what it says: they are not for the model, even where a server repeats them. Source: `security.md`, What comes in.
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
  // The longest first: a part of it must not leave the rest standing.
  const ordered = [...new Set(secrets)].sort((one, other) => other.length - one.length);
  return (text) =>
    ordered
      .reduce((left, secret) => left.replaceAll(secret, REDACTED), text)
      .replaceAll(USER_TOKEN_PATTERN, REDACTED);
}

/** The parameters of a URL, with their values as they are written and as they are meant. */
function readQuery(url: string): [name: string, value: string][] {
  const { search, searchParams } = new URL(url);
  const written = search
    .slice(1)
    .split("&")
    .map((parameter): [string, string] => {
      const at = parameter.indexOf("=");
      // Without a name the parameter may be a token itself.
      return at < 0 ? ["token", parameter] : [parameter.slice(0, at), parameter.slice(at + 1)];
    });
  return [...written, ...searchParams];
}

/** A JSON value with all strings in it redacted; names of fields stay. It must not be nested without end. */
export function redactStrings<Value>(value: Value, redact: (text: string) => string): Value {
  const convert = (item: unknown): unknown => {
    if (typeof item === "string") return redact(item);
    if (Array.isArray(item)) return item.map(convert);
    if (typeof item === "object" && item !== null)
      return Object.fromEntries(Object.entries(item).map(([name, inner]) => [name, convert(inner)]));
    return item;
  };
  // Only the insides of strings change.
  return convert(value) as Value;
}
