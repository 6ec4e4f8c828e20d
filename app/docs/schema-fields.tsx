import type { ReactNode } from "react";
import {
  type Components,
  type JsonSchema,
  nameOfRef,
  resolve,
  splitNull,
} from "#lib/api/openapi/json-schema.ts";
import { FieldLine } from "./field-line.tsx";
import { Words } from "./prose.tsx";
import { TypeWords } from "./type-words.tsx";

type Props = {
  schema: JsonSchema;
  schemas: Components;
  /**
   * Whether the schema describes what the reader sends in a request. If true, the required fields are marked;
   * otherwise, the optional fields.
   */
  isSent?: boolean;
};

/**
 * Shows the fields of a schema. Nested fields of unnamed objects are folded. Named schemas are links to their
 * descriptions.
 */
export function SchemaFields({ schema, schemas, isSent = false }: Props) {
  const whole = resolve(splitNull(schema).rest, schemas);
  if (whole.properties)
    return (
      <ul>
        {Object.entries(whole.properties).map(([field, part]) => (
          <FieldLine
            key={field}
            name={field}
            mark={markField(whole.required?.includes(field) ?? false, isSent)}
            schema={part}
            description={part.description ?? resolve(splitNull(part).rest, schemas).description}
          >
            <Inner schema={part} schemas={schemas} isSent={isSent} />
          </FieldLine>
        ))}
      </ul>
    );
  const choices = whole.anyOf ?? whole.oneOf ?? [];
  if (choices.length > 0) return <Choices choices={choices} schemas={schemas} />;
  return (
    <p className="py-1 font-mono text-faint text-xs">
      <TypeWords schema={whole} />
    </p>
  );
}

const markField = (isRequired: boolean, isSent: boolean) =>
  isRequired ? (isSent ? "required" : undefined) : isSent ? undefined : "optional";

/** Shows the alternatives of a schema, each with its description. */
const Choices = ({ choices, schemas }: { choices: JsonSchema[]; schemas: Components }) => (
  <ul className="flex flex-col gap-0.5 py-1">
    {choices.map((choice) => {
      const { properties = {}, description } = resolve(choice, schemas);
      return (
        <li key={JSON.stringify(choice)} className="text-sm text-soft">
          {nameOfRef(choice) === undefined && Object.keys(properties).length > 0 ? (
            <Fold title={nameChoice(properties)} description={description}>
              <SchemaFields schema={choice} schemas={schemas} />
            </Fold>
          ) : (
            <>
              <span className="font-mono text-xs">
                <TypeWords schema={choice} />
              </span>{" "}
              {description !== undefined && <Words text={description} />}
            </>
          )}
        </li>
      );
    })}
  </ul>
);

/**
 * Names an alternative by the constant that distinguishes it. Without such a constant, lists the fields of the
 * alternative.
 */
function nameChoice(properties: Record<string, JsonSchema>): string {
  const constant = ["kind", "type", "status", "event"].map((field) => properties[field]?.const).find(Boolean);
  return typeof constant === "string" ? constant : Object.keys(properties).join(", ");
}

/** Shows the nested fields of an unnamed object, folded. Renders nothing for a value without fields. */
function Inner({ schema, schemas, isSent = false }: Props) {
  const { rest } = splitNull(schema);
  const inner =
    rest.items ?? (typeof rest.additionalProperties === "object" ? rest.additionalProperties : rest);
  if (Object.keys(inner.properties ?? {}).length === 0) return null;
  return (
    <Fold title="Fields">
      <SchemaFields schema={inner} schemas={schemas} isSent={isSent} />
    </Fold>
  );
}

/** Shows a section that the reader can unfold. */
function Fold({
  title,
  description,
  children,
}: {
  title: string;
  description?: string | undefined;
  children: ReactNode;
}) {
  return (
    <details className="min-w-0">
      <summary className="text-accent text-xs">
        <span className="[overflow-wrap:anywhere]">{title}</span>
        {description !== undefined && (
          <span className="text-faint">
            {" "}
            <Words text={description} />
          </span>
        )}
      </summary>
      <div className="mt-1 border-l-2 pl-3">{children}</div>
    </details>
  );
}
