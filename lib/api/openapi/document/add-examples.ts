import { type Components, type JsonSchema, resolve } from "../json-schema.ts";
import type { MediaObject, OpenApiDocument, PathItem } from "../types.ts";

/** Adds an example to every JSON body and event stream without one. The example is built from the schema. */
export function addExamples(document: OpenApiDocument): OpenApiDocument {
  const { schemas } = document.components;
  return {
    ...document,
    paths: mapValues(document.paths, (item) => completeItem(item, schemas)),
    webhooks: mapValues(document.webhooks, (item) => completeItem(item, schemas)),
  };
}

const completeItem = (item: PathItem, schemas: Components): PathItem =>
  mapValues(item, (operation) => {
    if (!operation) return operation;
    const { requestBody, responses } = operation;
    return {
      ...operation,
      ...(requestBody && {
        requestBody: { ...requestBody, content: completeContent(requestBody.content, schemas) },
      }),
      responses: mapValues(responses, (response) =>
        "content" in response && response.content
          ? { ...response, content: completeContent(response.content, schemas) }
          : response,
      ),
    };
  });

const EXEMPLIFIED = ["application/json", "text/event-stream"];

const completeContent = (content: Record<string, MediaObject>, schemas: Components) =>
  mapValues(content, (media, type) =>
    !EXEMPLIFIED.includes(type) || media.example !== undefined || media.examples || !media.schema
      ? media
      : { ...media, example: makeExample(media.schema, schemas) },
  );

const mapValues = <Value>(
  record: Record<string, Value>,
  change: (value: Value, key: string) => Value,
): Record<string, Value> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));

/** Builds an example of a schema from the examples of its parts. Leaves out optional fields. */
function makeExample(schema: JsonSchema, components: Components): unknown {
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
