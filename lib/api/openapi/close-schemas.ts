import type { JsonSchema } from "./json-schema.ts";
import type { OpenApiDocument } from "./types.ts";

/**
 * A document whose named schemas let no other field through: answers are shown open, because a later version may add
 * fields, but a service of today sends no field that its document does not have.
 */
export function closeSchemas(document: OpenApiDocument): OpenApiDocument {
  const { components } = document;
  const schemas = Object.fromEntries(
    Object.entries(components.schemas).map(([name, schema]) => [name, close(schema)]),
  );
  return { ...document, components: { ...components, schemas } };
}

function close(schema: JsonSchema): JsonSchema {
  const closed: JsonSchema = { ...schema };
  if (schema.properties) {
    closed.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, part]) => [name, close(part)]),
    );
    closed.additionalProperties ??= false;
  }
  if (schema.items) closed.items = close(schema.items);
  if (typeof schema.additionalProperties === "object")
    closed.additionalProperties = close(schema.additionalProperties);
  for (const key of ["anyOf", "oneOf"] as const) {
    // What only narrows the schema that it stands in has no type of its own.
    const choices = schema[key]?.map((choice) => (choice.type === undefined ? choice : close(choice)));
    if (choices) closed[key] = choices;
  }
  return closed;
}
