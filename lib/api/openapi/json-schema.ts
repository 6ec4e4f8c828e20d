/** The subset of JSON Schema (2020-12) that the OpenAPI document uses. */
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

/** Named schemas, which other schemas can reference by name. */
export type Components = Record<string, JsonSchema>;

const PREFIX = "#/components/schemas/";

/** Creates a reference to a named schema of the document. */
export const refTo = (name: string): JsonSchema => ({ $ref: PREFIX + name });

/** Returns the name that a reference points to; undefined for any other schema. */
export const nameOfRef = ({ $ref }: JsonSchema): string | undefined =>
  $ref?.startsWith(PREFIX) ? $ref.slice(PREFIX.length) : undefined;

/** Follows a reference; returns any other schema unchanged. @throws Error if the referenced schema does not exist. */
export function resolve(schema: JsonSchema, components: Components): JsonSchema {
  const name = nameOfRef(schema);
  if (name === undefined) return schema;
  const found = components[name];
  if (!found) throw new Error(`nothing is named ${name}`);
  return resolve(found, components);
}

/** Separates null from the other choices of a schema's `anyOf`. */
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
