import type { z } from "zod";
import { PUBLICATION, REPORT, TEST_RUN } from "#lib/events/wire-values.ts";
import type { JsonSchema } from "../json-schema.ts";
import type { ParameterObject } from "../types.ts";
import type { SchemaCollector } from "./collect-schemas.ts";

const ID: JsonSchema = { type: "string", pattern: "^[\\w-]{1,100}$" };
const PATH_PARAMETERS: Record<string, { description: string; schema?: JsonSchema; example: string }> = {
  sessionId: {
    description: "Id of the session.",
    schema: { type: "string", pattern: "^[a-z0-9][a-z0-9_-]{0,63}$" },
    example: "ses_xdbqydi2z2jnnberubbghcrn",
  },
  requestId: {
    description: "Id of the request. A request is one accepted message.",
    example: "req_x3vhrt5vrmaw4gijc66izaly",
  },
  linkId: { description: "Id of the share link.", example: "lnk_k2m4zqvbwcnr7xye3hjpdtas" },
  keyId: { description: "Id of the API key, which is part of the key itself.", example: "3f9c1a7be2d04856" },
  artifactId: { description: "Id of the evidence to download.", example: "evi_t6ywq3ekc2bzmr5x7nahvpdj" },
  elicitationId: { description: "Id of the question.", example: "eli_b4wq2nxzkt7mpycr5hvjd3sa" },
  importId: { description: "Id of the import.", example: "imp_d5hwq2nxzkt7mpycr4vjb3sa" },
  variantKey: {
    description: "Key of the variant.",
    schema: { type: "string", pattern: "^[a-z0-9][a-z0-9-]{0,31}$" },
    example: "main",
  },
  revision: {
    description: "Number of the revision.",
    schema: { type: "string", pattern: "^[1-9][0-9]{0,8}$" },
    example: "3",
  },
  publicationId: { description: "Id of the publication.", example: PUBLICATION },
  testRunId: { description: "Id of the test run.", example: TEST_RUN },
  reportId: { description: "Id of the report.", example: REPORT },
  script: {
    description:
      "File of the script: `<publicationId>.js` for the current release, `<publicationId>@<number>.js` for one release, `demo.js` for the newest publication of a variant of the service's built-in demo shop.",
    schema: { type: "string", pattern: "^(demo|pub_[a-z2-7]{24}(@[1-9][0-9]{0,8})?)\\.js$" },
    example: `${PUBLICATION}.js`,
  },
  slug: {
    description: "Slug of the landing page: its name in the URL.",
    schema: { type: "string", pattern: "^[a-z0-9][a-z0-9-]{0,62}$" },
    example: "spring-sale-k3q7",
  },
  filePath: {
    description:
      "Path of the file in the workspace. Each name is percent-encoded; the slashes between them may be, too.",
    schema: { type: "string", maxLength: 1_024 },
    example: "notes/report.md",
  },
  deliveryId: { description: "Id of the delivery.", example: "whd-6f1c9a3e-58d2-4b7a-9c40-2f6d8e1b7a53" },
};

/** Returns the parameter names of a path: `sessionId` for `/a/:sessionId`. */
export const readPathNames = (path: string): string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);

/** Describes a path parameter as a component of the document. */
export function describePathParameter(name: string): ParameterObject {
  const {
    description,
    schema = ID,
    example,
  } = PATH_PARAMETERS[name] ?? { description: `The ${name}.`, example: "x" };
  return { name, in: "path", description, required: true, schema, example };
}

/** Returns references to the parameters of a path. */
export const listPathParameters = (path: string) =>
  readPathNames(path).map((name) => ({ $ref: `#/components/parameters/${name}` }));

/** Describes the fields of a schema as parameters. */
export function describeParameters(
  collector: SchemaCollector,
  place: "query" | "header",
  fields: z.ZodObject | undefined,
): ParameterObject[] {
  if (!fields) return [];
  const { properties = {}, required = [] } = collector.add(fields, "input");
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    ...(description !== undefined && { description }),
    required: required.includes(name),
    schema,
  }));
}
