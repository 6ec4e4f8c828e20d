"use client";

import { type ChangeEvent, type FormEvent, useState } from "react";
import type { ImportFormat, OmittedChange, VariantView } from "#lib/page/state/view-types.ts";
import { useRuntime } from "../../runtime/session-context.tsx";
import { Button } from "../../ui/button.tsx";
import { Field, Input, Select, Textarea } from "../../ui/field.tsx";
import { OmittedList } from "./omitted-list.tsx";

const FORMATS: Record<ImportFormat, string> = {
  growthbook: "GrowthBook",
  posthog: "PostHog",
  json: "JSON of this service",
};

type Imported = { revision: number; omitted: OmittedChange[] };

/** Shows a form that imports a file as a new revision of a variant. */
export function ImportForm({ variant }: { variant: VariantView }) {
  const { actions, store } = useRuntime();
  const [format, setFormat] = useState<ImportFormat>("growthbook");
  const [text, setText] = useState("");
  // The newest revision when the form was opened. If the variant has a newer revision on submission, the service
  // refuses the import.
  const [baseRevision] = useState(variant.revision);
  const [error, setError] = useState<string>();
  const [isImporting, setImporting] = useState(false);
  const [imported, setImported] = useState<Imported | null>(null);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (isImporting) return;
    const parsed = parseJson(text);
    setError(parsed.error);
    if (parsed.error !== undefined) return;
    setImporting(true);
    const draft = { format, document: parsed.value, baseRevision };
    const outcome = await actions.importVariant(variant.key, draft);
    setImporting(false);
    if (!outcome.isDone) {
      const advice = outcome.status === 409 ? ". Look at the newest revision, then import again." : "";
      return setError(`Nothing was imported: ${outcome.error}${advice}`);
    }
    store.mergeVariants([outcome.answer.variant]);
    setImported({ revision: outcome.answer.variant.revision, omitted: outcome.answer.omitted });
  }

  if (imported) return <ImportedNote imported={imported} />;
  return (
    <form onSubmit={submit} aria-label="Import" className="flex flex-col gap-3">
      <p className="text-soft text-sm">The changes are stored as a new revision of {variant.key}.</p>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field id="import-format" label="Format">
          <Select
            id="import-format"
            value={format}
            // The value of each option is a key of `FORMATS`.
            onChange={(event) => setFormat(event.target.value as ImportFormat)}
          >
            {Object.entries(FORMATS).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </Select>
        </Field>
        <Field id="import-file" label="File">
          <Input
            id="import-file"
            type="file"
            accept=".json,application/json"
            className="px-1 py-[3px] text-soft file:mr-2 file:h-6 file:rounded-sm file:bg-hover file:px-2 file:text-ink file:text-xs"
            onChange={async (event: ChangeEvent<HTMLInputElement>) => {
              const file = event.target.files?.[0];
              if (file) setText(await file.text());
            }}
          />
        </Field>
      </div>
      <Field id="import-text" label="Document" error={error} hint="Choose a file, or paste its JSON here.">
        <Textarea
          id="import-text"
          value={text}
          spellCheck={false}
          aria-invalid={error !== undefined}
          aria-describedby="import-text-note"
          onChange={(event) => setText(event.target.value)}
          className="max-h-64 min-h-32 font-mono text-xs"
        />
      </Field>
      <Button
        type="submit"
        variant="primary"
        className="self-start"
        disabled={isImporting || text.trim() === ""}
      >
        {isImporting ? "Importing" : "Import"}
      </Button>
    </form>
  );
}

function ImportedNote({ imported: { revision, omitted } }: { imported: Imported }) {
  if (omitted.length === 0)
    return (
      <p role="status" className="text-sm">
        The changes are stored as revision {revision}.
      </p>
    );
  return <OmittedList omitted={omitted}>Revision {revision} is stored without these changes.</OmittedList>;
}

function parseJson(text: string): { value: unknown; error?: undefined } | { error: string } {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { error: "The document is not valid JSON." };
  }
}
