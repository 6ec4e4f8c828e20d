import type { OpenApiDocument, OperationObject } from "#lib/api/openapi/types.ts";

/** An operation with its path and its method in upper case. For a callback, `path` is the name of the event. */
export type PlacedOperation = {
  method: string;
  path: string;
  /** Whether the operation is a callback: a request that the service sends to the caller's URL. */
  isCallback: boolean;
  operation: OperationObject;
};

export type Group = { name: string; id: string; description: string; operations: PlacedOperation[] };

/** Groups the operations and callbacks of a document by tag, in the order of the tags. */
export function listGroups(document: OpenApiDocument): Group[] {
  const placed = [...place(document.paths, false), ...place(document.webhooks, true)];
  return document.tags.map(({ name, description }) => ({
    name,
    id: name.toLowerCase().replaceAll(" ", "-"),
    description,
    operations: placed.filter(({ operation }) => operation.tags?.includes(name)),
  }));
}

const place = (paths: OpenApiDocument["paths"], isCallback: boolean): PlacedOperation[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      operation ? [{ method: method.toUpperCase(), path, isCallback, operation }] : [],
    ),
  );
