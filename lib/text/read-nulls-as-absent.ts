import { ZodError, type z } from "zod";

type Issue = z.core.$ZodIssue;

/**
 * Validates JSON that a model or program has written, like `schema.safeParse`, but reads a null as an absent property
 * where the schema does not allow null. Many models write null for an argument that they leave out. The value itself
 * does not change.
 */
export function readNullsAsAbsent<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.ZodSafeParseResult<z.output<Schema>> {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed;
  const copy = removeNulls(value, parsed.error);
  return copy === value ? parsed : schema.safeParse(copy, { reportInput: true });
}

/**
 * Removes the null properties that a schema refuses from JSON that another program has written. The value itself does
 * not change.
 *
 * @returns the value without these properties; the value itself if the schema refuses none.
 */
export function dropRefusedNulls(schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value);
  return parsed.success ? value : removeNulls(value, parsed.error);
}

/** Copies a value without the null properties that are the places of issues. Returns the value if there are none. */
function removeNulls(value: unknown, { issues }: ZodError): unknown {
  const paths = issues.flatMap((issue) => listPaths(issue, []));
  const nulls = paths.filter((path) => isNullProperty(value, path));
  if (nulls.length === 0) return value;
  const copy = structuredClone(value);
  for (const path of nulls) removeAt(copy, path);
  return copy;
}

/** Like {@link readNullsAsAbsent}, but returns the value. @throws ZodError if the value is invalid. */
export function parseNullsAsAbsent<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = readNullsAsAbsent(schema, value);
  if (!parsed.success) throw new ZodError(parsed.error.issues);
  return parsed.data;
}

/** Lists the paths of an issue. A union has an issue for each of its options. */
function listPaths(issue: Issue, before: PropertyKey[]): PropertyKey[][] {
  const path = [...before, ...issue.path];
  if (issue.code !== "invalid_union") return [path];
  return [path, ...issue.errors.flat().flatMap((inner) => listPaths(inner, path))];
}

function isNullProperty(value: unknown, path: readonly PropertyKey[]): boolean {
  const key = path.at(-1);
  const parent = valueAt(value, path.slice(0, -1));
  return typeof key === "string" && isRecord(parent) && Object.hasOwn(parent, key) && parent[key] === null;
}

function removeAt(value: unknown, path: readonly PropertyKey[]): void {
  const parent = valueAt(value, path.slice(0, -1));
  if (isRecord(parent)) Reflect.deleteProperty(parent, path.at(-1) ?? "");
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value);

const isRecord = (value: unknown): value is Record<PropertyKey, unknown> =>
  typeof value === "object" && value !== null;
