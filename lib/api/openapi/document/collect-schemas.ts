import { z } from "zod";
import type { Components, JsonSchema } from "../json-schema.ts";

type Direction = "input" | "output";

/**
 * Converts the contract's schemas to JSON Schemas. A schema with an `id` becomes a component that other schemas
 * reference.
 */
export type SchemaCollector = {
  /**
   * Converts a schema and collects the components that it references.
   * @param direction `input` for request bodies and parameters, `output` for responses.
   */
  add: (schema: z.ZodType, direction: Direction) => JsonSchema;
  /** Components collected so far, by name. */
  components: () => Components;
};

/**
 * Creates the collector for one document. Request schemas are as strict as the service. Response schemas allow
 * additional fields, because later versions may add some.
 */
export function createSchemaCollector(): SchemaCollector {
  const components = new Map<string, JsonSchema>();

  function name(id: string, schema: JsonSchema): void {
    const existing = components.get(id);
    if (existing && JSON.stringify(existing) !== JSON.stringify(schema))
      throw new Error(
        `two schemas are named ${id}: name the request schema and the response schema differently`,
      );
    components.set(id, schema);
  }

  return {
    add(schema, direction) {
      // Zod puts a named schema into `$defs` only if another schema contains it, so the schema is wrapped in an object.
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

/**
 * Prepares a JSON Schema from Zod for the document: replaces schemas that have `shownAs`, rewrites references, and lets
 * response schemas allow additional fields.
 */
function tidy(part: unknown, direction: Direction): unknown {
  if (Array.isArray(part)) return part.map((each) => tidy(each, direction));
  if (typeof part !== "object" || part === null) return part;
  const { shownAs, id: _, ...fields } = part as Record<string, unknown>;
  // This reference becomes an empty schema: the only recursive schema without a name is the one that Zod generates for
  // any JSON value.
  if (/^#\/\$defs\/__schema\d+$/.test(String(fields.$ref))) return {};
  if (shownAs !== undefined) return { ...(shownAs as JsonSchema), ...keepRemarks(fields) };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]): [string, unknown][] => {
      if (key === "$ref") return [[key, String(value).replace("#/$defs/", "#/components/schemas/")]];
      if (key === "examples" || key === "default" || key === "const" || key === "enum") return [[key, value]];
      if (key === "properties") return [[key, tidyEach(value, direction)]];
      if (key === "additionalProperties" && value === false && direction === "output") return [];
      // Removes the bounds of a safe integer. Zod adds them, but they do not help readers of the document.
      if ((key === "maximum" || key === "minimum") && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER)
        return [];
      return [[key, tidy(value, direction)]];
    }),
  );
}

/**
 * Prepares the schema of each property. Names of properties are not changed, even if they equal keywords such as `id`
 * and `default`.
 */
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

/** Returns the names of the components that a schema references, directly or indirectly. */
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
