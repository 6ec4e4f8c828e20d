import { USER_TOKEN_PATTERN } from "#lib/secrets/user-token.ts";

/** A header of such a name holds a secret, however short it is; any other one only where no word is as long. */
const SECRET_NAME = /auth|key|token|secret|cookie|password|credential|session/i;
const SECRET_LENGTH_MIN = 8;
const ANY_LENGTH_MIN = 20;

const REDACTED = "[redacted]";

/**
 * Makes a function that takes a server's own header values, and user tokens of ours, out of what it says: they are not
 * for the model, even where a server repeats them. Source: `security.md`, What comes in.
 */
export function createRedactor(headers: Readonly<Record<string, string>>): (text: string) => string {
  const secrets = Object.entries(headers).flatMap(([name, value]) => {
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
