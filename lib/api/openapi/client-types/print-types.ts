import { type JsonSchema, nameOfRef, splitNull } from "../json-schema.ts";

const INDENT = "  ";

/** Prints a JSON Schema as a TypeScript type. Leaves out fields whose schema accepts no value. */
export function printType(schema: JsonSchema, indent = ""): string {
  const name = nameOfRef(schema);
  if (name !== undefined) return name;
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.properties) return printObject(schema, indent);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map((choice) => printType(choice, indent)))].join(" | ");
  const [only, ...others] = [schema.type ?? []].flat();
  if (only === undefined) return "unknown";
  if (others.length > 0)
    return [only, ...others].map((type) => printType({ ...schema, type }, indent)).join(" | ");
  switch (only) {
    case "integer":
      return "number";
    case "array":
      return `Array<${schema.items ? printType(schema.items, indent) : "unknown"}>`;
    case "object":
      return `Record<string, ${printValues(schema, indent)}>`;
    default:
      return only;
  }
}

function printValues({ additionalProperties }: JsonSchema, indent: string): string {
  return typeof additionalProperties === "object" ? printType(additionalProperties, indent) : "unknown";
}

function printObject(schema: JsonSchema, indent: string): string {
  const { properties = {}, required = [], additionalProperties } = schema;
  const inner = indent + INDENT;
  const lines = Object.entries(properties)
    .filter(([, part]) => !(part.not && Object.keys(part.not).length === 0))
    .map(([name, part]) => {
      const isRequired = required.includes(name);
      const type = printType(part, inner);
      return `${printRemark(describeNullable(part), inner)}${inner}${printName(name)}${isRequired ? "" : "?"}: ${type}${isRequired ? "" : " | undefined"};\n`;
    });
  if (typeof additionalProperties === "object" || additionalProperties === true)
    lines.push(`${inner}[field: string]: unknown;\n`);
  return lines.length === 0 ? "Record<string, never>" : `{\n${lines.join("")}${indent}}`;
}

/**
 * Returns a schema with its description. For a nullable field, Zod puts the description on the branch that is not null.
 */
const describeNullable = (part: JsonSchema): JsonSchema => {
  const description = part.description ?? splitNull(part).rest.description;
  return description === undefined ? part : { ...part, description };
};

const printName = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

/** Prints the description of a schema as a doc comment. */
export function printRemark({ description, deprecated }: JsonSchema, indent: string): string {
  const text = [description, deprecated && "@deprecated"].filter(Boolean).join(" ");
  return text === "" ? "" : `${indent}/** ${text.replaceAll("*/", "*\\/")} */\n`;
}
