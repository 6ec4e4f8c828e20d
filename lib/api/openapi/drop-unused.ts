import type { OpenApiDocument } from "./types.ts";

/** Leaves out the responses, headers and tags that nothing in the document refers to. */
export function dropUnused(document: OpenApiDocument): OpenApiDocument {
  const { components } = document;
  const isUsed = (kind: string, text: string) => (name: string) =>
    text.includes(`"#/components/${kind}/${name}"`);
  const used = isUsed("responses", JSON.stringify(document.paths));
  const responses = keep(components.responses, used);
  const headers = keep(components.headers, isUsed("headers", JSON.stringify([document.paths, responses])));
  const text = JSON.stringify([document.paths, document.webhooks]);
  const tags = document.tags.filter(({ name }) => text.includes(`"tags":[${JSON.stringify(name)}]`));
  return { ...document, tags, components: { ...components, responses, headers } };
}

const keep = <Value>(
  record: Record<string, Value>,
  isKept: (name: string) => boolean,
): Record<string, Value> => Object.fromEntries(Object.entries(record).filter(([name]) => isKept(name)));
