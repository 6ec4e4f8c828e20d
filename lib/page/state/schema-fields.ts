/** The types of fields that a person can describe without JSON. */
export const FIELD_TYPES = {
  text: "Text",
  number: "Number",
  integer: "Whole number",
  boolean: "Yes or no",
  choice: "Choice",
  list: "List",
  group: "Group",
} as const;

export type FieldType = keyof typeof FIELD_TYPES;

/** What a field holds. `choices` belong to a choice, `item` to a list, and `fields` to a group. */
export type FieldShape =
  | { type: "text" | "number" | "integer" | "boolean" }
  | { type: "choice"; choices: string[] }
  | { type: "list"; item: FieldShape }
  | { type: "group"; fields: SchemaField[] };

/** A field of a structured result, as a person describes it. `id` names the field while it is edited. */
export type SchemaField = {
  id: string;
  name: string;
  description: string;
  isRequired: boolean;
  shape: FieldShape;
};

type Schema = Record<string, unknown>;

const SIMPLE = { text: "string", number: "number", integer: "integer", boolean: "boolean" } as const;

/** Creates a field without a name. */
export const newField = (): SchemaField => ({
  id: crypto.randomUUID(),
  name: "",
  description: "",
  isRequired: true,
  shape: { type: "text" },
});

/** Returns an empty shape of a type. */
export function newShape(type: FieldType): FieldShape {
  if (type === "choice") return { type, choices: [] };
  if (type === "list") return { type, item: { type: "text" } };
  if (type === "group") return { type, fields: [newField()] };
  return { type };
}

/** Composes the JSON Schema of an object with these fields. */
export function composeSchema(fields: SchemaField[]): Schema {
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  // `Object.fromEntries` also defines a property that is called `__proto__`.
  const properties = Object.fromEntries(
    fields.map(({ name, description, shape }) => [
      name,
      { ...composeShape(shape), ...(description !== "" && { description }) },
    ]),
  );
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}

function composeShape(shape: FieldShape): Schema {
  if (shape.type === "choice") return { type: "string", enum: shape.choices };
  if (shape.type === "list") return { type: "array", items: composeShape(shape.item) };
  if (shape.type === "group") return composeSchema(shape.fields);
  return { type: SIMPLE[shape.type] };
}

/** Finds the first problem of fields: a missing or repeated name, a choice without values, or an empty group. */
export function findFieldProblem(fields: SchemaField[]): { id: string; text: string } | undefined {
  const names = new Set<string>();
  for (const { id, name, shape } of fields) {
    if (name === "") return { id, text: "Give the field a name." };
    if (names.has(name)) return { id, text: "Another field has this name." };
    names.add(name);
    const found = findShapeProblem(id, shape);
    if (found) return found;
  }
  return undefined;
}

function findShapeProblem(id: string, shape: FieldShape): { id: string; text: string } | undefined {
  if (shape.type === "choice" && shape.choices.length === 0)
    return { id, text: "Write the choices, separated by commas." };
  if (shape.type === "list") return findShapeProblem(id, shape.item);
  if (shape.type !== "group") return undefined;
  return shape.fields.length === 0
    ? { id, text: "Add a field to the group." }
    : findFieldProblem(shape.fields);
}

/**
 * Reads the fields of a schema, if fields can express all of it: {@link composeSchema} of the fields accepts the same
 * values and has the same descriptions. Returns undefined for all other schemas.
 */
export function readFields(schema: unknown): SchemaField[] | undefined {
  if (!isSchema(schema) || !hasOnly(schema, ["type", "properties", "required"])) return undefined;
  return readProperties(schema);
}

function readProperties({ type, properties, required = [] }: Schema): SchemaField[] | undefined {
  if (type !== "object" || !isSchema(properties) || !isTexts(required)) return undefined;
  if (!required.every((name) => Object.hasOwn(properties, name))) return undefined;
  const fields: SchemaField[] = [];
  for (const [name, property] of Object.entries(properties)) {
    if (!isSchema(property)) return undefined;
    const { description = "", ...rest } = property;
    const shape = readShape(rest);
    if (typeof description !== "string" || !shape) return undefined;
    fields.push({ ...newField(), name, description, isRequired: required.includes(name), shape });
  }
  return findFieldProblem(fields) ? undefined : fields;
}

function readShape(schema: Schema): FieldShape | undefined {
  if (schema.type === "object") {
    const fields = hasOnly(schema, ["type", "properties", "required"]) && readProperties(schema);
    return fields ? { type: "group", fields } : undefined;
  }
  if (schema.type === "array") {
    const item = hasOnly(schema, ["type", "items"]) && isSchema(schema.items) && readShape(schema.items);
    return item ? { type: "list", item } : undefined;
  }
  if (schema.type === "string" && hasOnly(schema, ["type", "enum"]) && isTexts(schema.enum)) {
    // The person edits choices as a text with commas.
    const isPlain = schema.enum.every((choice) => choice === choice.trim() && !/^$|,/.test(choice));
    return isPlain ? { type: "choice", choices: schema.enum } : undefined;
  }
  const [simple] = Object.entries(SIMPLE).find(([, type]) => type === schema.type) ?? [];
  // The cast is safe, because `simple` is a key of `SIMPLE`.
  return simple && hasOnly(schema, ["type"]) ? { type: simple as keyof typeof SIMPLE } : undefined;
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");
const hasOnly = (schema: Schema, names: string[]): boolean =>
  Object.keys(schema).every((name) => names.includes(name));
