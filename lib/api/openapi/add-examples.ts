import type { Components } from "./json-schema.ts";
import { makeExample } from "./make-example.ts";
import type { MediaObject, OpenApiDocument, PathItem } from "./types.ts";

/** Gives every JSON body and event that has none an example, made of its schema's parts. */
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
