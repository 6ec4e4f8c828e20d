"use client";

import { useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Field, Textarea } from "#components/ui/field.tsx";
import { Segments } from "#components/ui/segments.tsx";
import {
  composeSchema,
  findFieldProblem,
  readFields,
  type SchemaField,
} from "#lib/page/state/schema-fields.ts";
import { readSchema } from "./read-schema.ts";
import { SchemaBuilder } from "./schema-builder.tsx";
import type { WrittenSchema } from "./written-schema.ts";

/** An example schema: the fields of a checkout page. */
const EXAMPLE_SCHEMA = `{
  "type": "object",
  "properties": {
    "title": { "type": "string" },
    "fields": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "label": { "type": "string" },
          "required": { "type": "boolean" }
        },
        "required": ["label", "required"]
      }
    }
  },
  "required": ["title", "fields"]
}`;

type View = "fields" | "json";

const VIEWS = [
  ["fields", "Fields"],
  ["json", "JSON"],
] as const;

/**
 * Shows the editor for the JSON Schema of the structured result: as fields, or as JSON. The text is the schema; while
 * the fields have a problem, the text is empty, so that the form cannot be sent.
 */
export function SchemaEditor({
  text,
  problem,
  onChange,
}: {
  text: string;
  problem: string | undefined;
  onChange: (written: WrittenSchema) => void;
}) {
  const write = (text: string) => onChange({ text, read: readSchema(text) });
  const [view, setView] = useState<View>(() => (text === "" || fieldsOf(text) ? "fields" : "json"));
  const [fields, setFields] = useState<SchemaField[]>(() => fieldsOf(text) ?? []);
  function edit(changed: SchemaField[]): void {
    setFields(changed);
    const isComplete = changed.length > 0 && findFieldProblem(changed) === undefined;
    write(isComplete ? JSON.stringify(composeSchema(changed), null, 2) : "");
  }
  function take(schema: string): void {
    setFields(fieldsOf(schema) ?? []);
    write(schema);
  }
  const shown = text === "" ? fields : fieldsOf(text);
  function choose(chosen: View): void {
    // The text may have been edited as JSON since the fields were shown.
    if (chosen === "fields" && shown) edit(shown);
    setView(chosen);
  }
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <Segments label="Schema as" choices={VIEWS} chosen={view} onChoose={choose} />
        <span className="flex-1" />
        <Button size="sm" variant="ghost" onClick={() => take(EXAMPLE_SCHEMA)}>
          Take the example
        </Button>
      </div>
      {view === "json" ? (
        <JsonField text={text} problem={problem} onChange={write} />
      ) : shown ? (
        <FieldsPart fields={fields} problem={problem} onChange={edit} />
      ) : (
        <p className="rounded-lg border border-line-strong border-dashed px-4 py-4 text-center text-faint text-sm">
          Fields cannot show all of this schema. Edit it as JSON.
        </p>
      )}
    </div>
  );
}

/** Reads the fields of a schema in JSON. Undefined if the text is no schema, or one that fields cannot express. */
function fieldsOf(text: string): SchemaField[] | undefined {
  const read = readSchema(text);
  return read.isValid ? readFields(read.schema) : undefined;
}

function FieldsPart({
  fields,
  problem,
  onChange,
}: {
  fields: SchemaField[];
  problem: string | undefined;
  onChange: (fields: SchemaField[]) => void;
}) {
  return (
    // The form focuses the element with this id if the schema has a problem.
    <div id="schema" tabIndex={-1} className="flex flex-col gap-2 outline-none">
      <SchemaBuilder
        label="Fields of the result"
        fields={fields}
        problem={findFieldProblem(fields)}
        onChange={onChange}
      />
      {problem ? (
        <p role="alert" className="text-bad text-sm">
          {problem}
        </p>
      ) : (
        <p className="text-faint text-xs">
          Every turn returns a value with these fields, which is validated.
        </p>
      )}
    </div>
  );
}

function JsonField({
  text,
  problem,
  onChange,
}: {
  text: string;
  problem: string | undefined;
  onChange: (text: string) => void;
}) {
  return (
    <Field
      id="schema"
      label="Schema"
      hint="Every turn returns a value that is validated against this JSON Schema."
      error={problem}
    >
      <Textarea
        id="schema"
        value={text}
        rows={8}
        spellCheck={false}
        aria-invalid={problem !== undefined}
        aria-describedby="schema-note"
        onChange={(event) => onChange(event.target.value)}
        className="max-h-96 min-h-44 font-mono text-xs leading-[18px]"
      />
    </Field>
  );
}
