"use client";

import { Button } from "#components/ui/button.tsx";
import { Field, Textarea } from "#components/ui/field.tsx";
import { EXAMPLE_SCHEMA } from "./read-schema.ts";

/** Shows a field for the JSON Schema of the structured result. */
export function SchemaEditor({
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
      action={
        <Button size="sm" variant="ghost" onClick={() => onChange(EXAMPLE_SCHEMA)}>
          Take the example
        </Button>
      }
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
