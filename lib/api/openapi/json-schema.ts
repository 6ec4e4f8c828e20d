/** A JSON Schema (2020-12), as far as documents of ours go. */
export type JsonSchema = {
  $ref?: string;
  type?: string | string[];
  title?: string;
  description?: string;
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  deprecated?: boolean;
  example?: unknown;
  examples?: unknown[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  propertyNames?: JsonSchema;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  not?: JsonSchema;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  discriminator?: { propertyName: string; mapping?: Record<string, string> };
};

/** Schemas by the names under which others refer to them. */
export type Components = Record<string, JsonSchema>;

const PREFIX = "#/components/schemas/";

/** A reference to a named schema of the document. */
export const refTo = (name: string): JsonSchema => ({ $ref: PREFIX + name });

/** The name that a reference is of; undefined for a schema that is none. */
export const nameOfRef = ({ $ref }: JsonSchema): string | undefined =>
  $ref?.startsWith(PREFIX) ? $ref.slice(PREFIX.length) : undefined;

/** What a reference stands for; any other schema is itself. @throws Error for a reference to nothing. */
export function resolve(schema: JsonSchema, components: Components): JsonSchema {
  const name = nameOfRef(schema);
  if (name === undefined) return schema;
  const found = components[name];
  if (!found) throw new Error(`nothing is named ${name}`);
  return resolve(found, components);
}

/** Whether null is one of its values, and what else it is. */
export function splitNull(schema: JsonSchema): { isNullable: boolean; rest: JsonSchema } {
  const { anyOf, ...around } = schema;
  if (!anyOf?.some(({ type }) => type === "null"))
    return { isNullable: schema.type === "null", rest: schema };
  const others = anyOf.filter(({ type }) => type !== "null");
  const [only] = others;
  return {
    isNullable: true,
    rest: others.length === 1 && only ? { ...only, ...around } : { ...around, anyOf: others },
  };
}
