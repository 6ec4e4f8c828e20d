/** The kinds of ids in DevTools commands that are checked against what the browser has shown to the script. */
export type IdKind =
  | "context"
  | "object"
  | "node"
  | "frame"
  | "request"
  | "stream"
  | "history entry"
  | "init script"
  | "session"
  | "target";

/** Whether the browser has shown an id of this kind to the script. */
export type HasId = (kind: IdKind, id: string | number) => boolean;

type Fields = Record<string, unknown>;

/** Reads one parameter and returns the value to send to the browser. @throws Refusal if the value is not allowed. */
export type Rule = { read: (value: unknown, hasId: HasId) => unknown; isRequired?: boolean };

/** The parameters of a command, each with its rule. Other parameters are not sent to the browser. */
export type Params = Record<string, Rule>;

/** The reason why a command is refused: a sentence for the author of the script. */
export class Refusal extends Error {
  override name = "Refusal";
}

const ofType = (type: "string" | "number" | "boolean"): Rule => ({
  read(value) {
    if (typeof value !== type) throw new Refusal(`must be a ${type}`);
    return value;
  },
});

export const text = ofType("string");
export const number = ofType("number");
export const flag = ofType("boolean");
/** A value that only the page reads, such as an argument of a function. It may be any JSON. */
export const json: Rule = { read: (value) => value };

/** Refuses the command if the parameter is present, unless it is `false`. */
export const forbidden = (reason: string): Rule => ({
  read(value) {
    if (value !== false) throw new Refusal(reason);
    return undefined;
  },
});

/** A string that must satisfy a condition. A missing value is refused too if `isRequired`. */
export const textThat = (
  isAllowed: (value: string) => boolean,
  refuse: (value: unknown) => string,
  isRequired = false,
): Rule => ({
  isRequired,
  read(value) {
    if (typeof value !== "string" || !isAllowed(value)) throw new Refusal(refuse(value));
    return value;
  },
});

/** An id that the browser has shown to the script. */
export const idOf = (kind: IdKind, type: "string" | "number" = "string"): Rule => ({
  read(value, hasId) {
    if ((typeof value !== "string" && typeof value !== "number") || typeof value !== type)
      throw new Refusal(`must be a ${type}`);
    if (!hasId(kind, value)) throw new Refusal(`No such ${kind}.`);
    return value;
  },
});

export const listOf = (rule: Rule): Rule => ({
  read(value, hasId) {
    if (!Array.isArray(value)) throw new Refusal("must be a list");
    return value.map((each) => rule.read(each, hasId));
  },
});

/** An object with these fields. Other fields are not sent to the browser. */
export const fields = (rules: Params): Rule => ({
  read: (value, hasId) => readFields(rules, readObject(value), hasId),
});

/** An object whose names the script chooses, such as headers. */
export const mapOf = (rule: Rule): Rule => ({
  read: (value, hasId) =>
    Object.fromEntries(
      Object.entries(readObject(value)).map(([name, each]) => [name, rule.read(each, hasId)]),
    ),
});

/** Builds the object to send to the browser from the fields that have a rule. @throws Refusal */
export function readFields(rules: Params, source: Fields, hasId: HasId): Fields {
  const result: Fields = {};
  for (const [name, rule] of Object.entries(rules)) {
    const value = Object.hasOwn(source, name) ? source[name] : undefined;
    if (value === undefined && !rule.isRequired) continue;
    try {
      const allowed = rule.read(value, hasId);
      if (allowed !== undefined) result[name] = allowed;
    } catch (error) {
      // Names the field in messages such as "must be a string"; other messages are complete sentences.
      if (error instanceof Refusal && !error.message.endsWith(".")) error.message = nameField(name, error);
      throw error;
    }
  }
  return result;
}

const nameField = (name: string, { message }: Refusal) =>
  message.startsWith("must ") ? `${name} ${message}` : `${name}.${message}`;

function readObject(value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Refusal("must be an object");
  return value as Fields;
}
