import { z } from "zod";
import type { Components, JsonSchema } from "../json-schema.ts";

type Direction = "input" | "output";

/** Turns the contract's schemas into JSON Schemas; those with an `id` become components that others refer to. */
export type SchemaCollector = {
  /** @param direction whether clients send it, or get it. */
  add: (schema: z.ZodType, direction: Direction) => JsonSchema;
  /** What has been named so far, by name. */
  components: () => Components;
};

/**
 * Makes a collector for one document.
 *
 * Bodies that clients send are as strict as the service is. What they get may gain fields in a later version, so that
 * answers are shown open, although the service sends no other field today.
 */
export function createSchemaCollector(): SchemaCollector {
  const components = new Map<string, JsonSchema>();

  function name(id: string, schema: JsonSchema): void {
    const known = components.get(id);
    if (known && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(
        `two schemas are named ${id}: give what clients send and what they get their own names`,
      );
    components.set(id, schema);
  }

  return {
    add(schema, direction) {
      // Below another schema, so that a named one becomes a component like those inside it.
      const whole = z.toJSONSchema(z.object({ schema }), { io: direction, unrepresentable: "any" });
      const read = (part: unknown) => tidy(part, direction) as JsonSchema;
      const found = read(whole.properties?.schema);
      const defs = Object.entries(whole.$defs ?? {}).map(([id, part]) => [id, read(part)] as const);
      const needed = reach(found, new Map(defs));
      for (const [id, part] of defs) if (needed.has(id)) name(id, part);
      return found;
    },
    components: () => Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** What the schema's author wants shown (`shownAs`), references as the document has them, and answers open. */
function tidy(part: unknown, direction: Direction): unknown {
  if (Array.isArray(part)) return part.map((each) => tidy(each, direction));
  if (typeof part !== "object" || part === null) return part;
  const { shownAs, id: _, ...fields } = part as Record<string, unknown>;
  // The one circle without a name is the library's own description of any JSON value.
  if (/^#\/\$defs\/__schema\d+$/.test(String(fields.$ref))) return {};
  if (shownAs !== undefined) return { ...(shownAs as JsonSchema), ...keepRemarks(fields) };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]): [string, unknown][] => {
      if (key === "$ref") return [[key, String(value).replace("#/$defs/", "#/components/schemas/")]];
      if (key === "examples" || key === "default" || key === "const" || key === "enum") return [[key, value]];
      if (key === "properties") return [[key, tidyEach(value, direction)]];
      if (key === "additionalProperties" && value === false && direction === "output") return [];
      // The library's bounds of a safe integer say nothing to a reader.
      if ((key === "maximum" || key === "minimum") && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER)
        return [];
      return [[key, tidy(value, direction)]];
    }),
  );
}

/** Properties may have any name, `id` and `default` too. */
const tidyEach = (properties: unknown, direction: Direction) =>
  Object.fromEntries(
    Object.entries(properties as Record<string, unknown>).map(([key, value]) => [
      key,
      tidy(value, direction),
    ]),
  );

const REMARKS = ["title", "description", "examples", "default", "deprecated"];
const keepRemarks = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => REMARKS.includes(key)));

/** The names that a schema refers to, directly or through others. */
function reach(schema: JsonSchema, defs: ReadonlyMap<string, JsonSchema>): Set<string> {
  const found = new Set<string>();
  const visit = (part: JsonSchema) => {
    for (const [, id = ""] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      const def = defs.get(id);
      if (!def || found.has(id)) continue;
      found.add(id);
      visit(def);
    }
  };
  visit(schema);
  return found;
}
