/** A parameter of a tool whose value is also sent as a header: where it is in the input, and the name of the header. */
export type ParamHeader = { path: string[]; header: string };

const KEY = "x-mcp-header";
/** The characters of a header's name. Source: RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** How deep in the input a parameter with a header may be. */
const DEPTH_MAX = 64;
const TYPES: unknown[] = ["string", "integer", "boolean"];
/** Keywords whose value is a schema or a list of schemas, and those whose value is a map of schemas. */
const INNER = new Set(
  "items prefixItems contains additionalProperties unevaluatedProperties unevaluatedItems propertyNames oneOf anyOf allOf not if then else".split(
    " ",
  ),
);
const INNER_MAPS = new Set("patternProperties dependentSchemas $defs definitions".split(" "));

/** A schema that has not been read yet. `path` is undefined if no chain of `properties` leads to it. */
type Unread = { schema: unknown; path: string[] | undefined };

/**
 * Reads which parameters of a tool are also sent as headers.
 *
 * @returns the headers; undefined if a declaration is not valid, because such a tool must not be used. Source: Model
 * Context Protocol 2026-07-28, Streamable HTTP, Schema Extension.
 */
export function readParamHeaders(inputSchema: unknown): ParamHeader[] | undefined {
  const found: ParamHeader[] = [];
  const names = new Set<string>();
  const unread: Unread[] = [{ schema: inputSchema, path: [] }];
  // No recursion, because the schema may be nested deeply.
  for (let next = unread.pop(); next; next = unread.pop()) {
    const { schema, path } = next;
    if (!isFields(schema)) continue;
    if (Object.hasOwn(schema, KEY)) {
      const header = schema[KEY];
      const isValid =
        path !== undefined &&
        path.length > 0 &&
        typeof header === "string" &&
        TOKEN.test(header) &&
        TYPES.includes(schema.type) &&
        !names.has(header.toLowerCase());
      if (!isValid) return undefined;
      names.add(header.toLowerCase());
      found.push({ path, header });
    }
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === "properties" && isFields(value))
        for (const [name, inner] of Object.entries(value))
          unread.push({ schema: inner, path: path && path.length < DEPTH_MAX ? [...path, name] : undefined });
      else if (INNER_MAPS.has(keyword) && isFields(value))
        for (const inner of Object.values(value)) unread.push({ schema: inner, path: undefined });
      else if (INNER.has(keyword))
        for (const inner of Array.isArray(value) ? value : [value])
          unread.push({ schema: inner, path: undefined });
    }
  }
  return found;
}

/** Finds a tool in a list, and reads its headers. */
export function findParamHeaders(tools: readonly unknown[], name: string): ParamHeader[] {
  const tool = tools.find((each) => isFields(each) && each.name === name);
  return (isFields(tool) && readParamHeaders(tool.inputSchema)) || [];
}

/** Composes the headers of a call. Parameters that are absent or null have no header. */
export function toParamHeaders(
  headers: readonly ParamHeader[],
  input: Record<string, unknown>,
): Record<string, string> {
  return Object.fromEntries(
    headers.flatMap(({ path, header }) => {
      const text = toText(readPath(input, path));
      return text === undefined ? [] : [[`Mcp-Param-${header}`, encode(text)]];
    }),
  );
}

const readPath = (input: unknown, path: readonly string[]): unknown =>
  path.reduce((at, name) => (isFields(at) && Object.hasOwn(at, name) ? at[name] : undefined), input);

const toText = (value: unknown): string | undefined =>
  typeof value === "string"
    ? value
    : typeof value === "boolean" || Number.isSafeInteger(value)
      ? String(value)
      : undefined;

/** Encodes a text that is no header value as it is, or that looks as if it were encoded. */
const encode = (text: string): string =>
  /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)
    ? text
    : `=?base64?${Buffer.from(text).toString("base64")}?=`;

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
