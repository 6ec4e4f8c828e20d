import { type Components, type JsonSchema, resolve } from "./json-schema.ts";

/**
 * An example of what a schema describes, made of the examples of its parts; optional fields are left out.
 * @throws Error for a schema whose example cannot be told from it.
 */
export function makeExample(schema: JsonSchema, components: Components): unknown {
  if (schema.examples) return schema.examples[0];
  if ("const" in schema) return schema.const;
  if (schema.$ref !== undefined) return makeExample(resolve(schema, components), components);
  if (schema.enum) return schema.default ?? schema.enum[0];
  const [choice] = schema.anyOf ?? schema.oneOf ?? [];
  if (schema.properties) return makeObject(schema, components);
  if (choice) return makeExample(choice, components);
  const [type] = [schema.type].flat();
  switch (type) {
    case "object":
      return {};
    case "array":
      return schema.items ? [makeExample(schema.items, components)] : [];
    case "integer":
    case "number":
      return schema.default ?? schema.minimum ?? 0;
    case "boolean":
      return schema.default ?? false;
    case "null":
      return null;
    case "string":
      return "…";
    default:
      return {};
  }
}

function makeObject(schema: JsonSchema, components: Components): Record<string, unknown> {
  const [firstChoice] = schema.oneOf ?? [];
  const required = [...(schema.required ?? []), ...(firstChoice?.required ?? [])];
  const shown = Object.entries(schema.properties ?? {}).filter(([name]) => required.includes(name));
  return Object.fromEntries(shown.map(([name, part]) => [name, makeExample(part, components)]));
}
