import { contract } from "../../contract/contract.ts";
import type { Operation } from "../../contract/operation.ts";
import { buildDocument } from "../document/build-document.ts";
import { readPathNames } from "../document/parameters.ts";
import type { JsonSchema } from "../json-schema.ts";
import type { OpenApiDocument, OperationObject, ParameterObject } from "../types.ts";
import { printRemark, printType } from "./print-types.ts";

const HEAD = `// Generated from the contract by \`npm run build:client\`. Do not edit: a test compares it with the contract.

`;

/** Whether programs can call an operation, that is, with an API key or without a credential. */
const isForPrograms = ({ auth }: Operation): boolean =>
  auth.kind === "key" || auth.kind === "none" || (auth.kind === "share" && auth.orKey);

/**
 * Prints the types of the published client as one module without imports. The module contains every named schema of the
 * document. For every operation that programs can call, it contains the method, path, parameters, body and response.
 */
export function printClientTypes(document: OpenApiDocument = buildDocument("")): string {
  const types = Object.entries(document.components.schemas).map(
    ([name, schema]) => `${printRemark(schema, "")}export type ${name} = ${printType(schema)};\n`,
  );
  const names = Object.entries(contract as Record<string, Operation>).filter(([, operation]) =>
    isForPrograms(operation),
  );
  const found = names.map(([name, operation]) => ({ name, operation, described: find(document, operation) }));
  const signatures = found.map(({ name, operation, described }) =>
    printSignature(name, operation, described),
  );
  const places = found.map(({ name, operation, described }) => {
    const { method, path, query, body, takesBytes } = operation;
    const queryNames = Object.keys(query?.shape ?? {});
    const answer = printAnswer(operation, described);
    const kind = { isRaw: answer === "Response", hasText: answer.endsWith(" | string") };
    const place = {
      method,
      path,
      query: queryNames,
      hasBody: body !== undefined,
      ...(takesBytes && { takesBytes }),
      ...kind,
    };
    return `  ${name}: ${JSON.stringify(place)},\n`;
  });
  return [
    HEAD,
    types.join("\n"),
    "\n/** Parameters, body and answer of every API operation that programs can call. */\n",
    `export type Operations = {\n${signatures.join("")}};\n`,
    "\n/** Method and path of every API operation that programs can call. */\n",
    `export const OPERATIONS = {\n${places.join("")}} as const;\n`,
  ].join("");
}

function find(document: OpenApiDocument, { path, method }: Operation): OperationObject {
  const described = document.paths[path.replace(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
  if (!described) throw new Error(`the document has no ${method} ${path}`);
  return described;
}

function printSignature(name: string, operation: Operation, described: OperationObject): string {
  const parameters = [
    ...readPathNames(operation.path).map((field) => `${field}: string`),
    ...(described.parameters ?? [])
      .filter((parameter): parameter is ParameterObject => "in" in parameter && parameter.in === "query")
      .map(
        ({ name: field, required, schema }) =>
          `${field}${required ? "" : "?"}: ${printType(schema)}${required ? "" : " | undefined"}`,
      ),
  ];
  const body = described.requestBody?.content["application/json"]?.schema;
  const fields = [
    `parameters: { ${parameters.join("; ")} }`,
    `body: ${operation.takesBytes ? "Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | string" : body ? printType(body, "    ") : "undefined"}`,
    `answer: ${printAnswer(operation, described)}`,
  ];
  const remark = printRemark(
    { description: [described.summary, described.description].filter(Boolean).join(". ") },
    "  ",
  );
  return `${remark}  ${name}: {\n${fields.map((field) => `    ${field};\n`).join("")}  };\n`;
}

/**
 * Prints the type of the body of a successful response. The type is `Response` if the contract has no schema for the
 * body. It includes `string` if the operation can also respond with a text, such as Markdown.
 */
function printAnswer(operation: Operation, { responses }: OperationObject): string {
  const schemas = Object.entries(operation.answers).flatMap(([status, answer]): JsonSchema[] => {
    const response = responses[status];
    if (Number(status) >= 300 || answer === "stream" || !response || "$ref" in response) return [];
    const schema = response.content?.["application/json"]?.schema;
    return schema ? [schema] : [];
  });
  const printed = [...new Set(schemas.map((schema) => printType(schema, "    ")))];
  if (printed.length === 0) return "Response";
  const isAlsoText = operation.media?.[200]?.some((type) => type.startsWith("text/"));
  return [...printed, ...(isAlsoText ? ["string"] : [])].join(" | ");
}
