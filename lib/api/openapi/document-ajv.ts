import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { JsonSchema } from "./json-schema.ts";
import type { OpenApiDocument } from "./types.ts";

/** Validates values against schemas of a document, each compiled once. */
export type DocumentAjv = {
  /** What is wrong with a value, as sentences; none where it is valid. */
  explain: (schema: JsonSchema, value: unknown) => string[];
};

/** Makes the validator of one document. */
export function createDocumentAjv(document: OpenApiDocument): DocumentAjv {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, "document");
  const compiled = new Map<string, ValidateFunction>();
  return {
    explain(schema, value) {
      const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
      const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text));
      compiled.set(text, validate);
      if (validate(value)) return [];
      return (validate.errors ?? []).map(
        ({ instancePath, message }) => `${instancePath || "body"} ${message}`,
      );
    },
  };
}
