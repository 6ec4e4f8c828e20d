"use client";

import { type ChangeEvent, type FormEvent, useState } from "react";
import type { ImportSummary, LeftOut } from "#lib/page/state/view-types.ts";
import { countOf } from "#lib/text/count-of.ts";
import { useRuntime } from "../../runtime/session-context.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Input } from "../../ui/field.tsx";
import { LeftOutList } from "./left-out-list.tsx";

const MIB = 1024 * 1024;
const BYTES_MAX = 10 * MIB;

type Imported = { import: ImportSummary; leftOut: LeftOut[] };

/** Shows the dialog that imports a file into the session. */
export function ImportDialog({
  isOpen,
  onOpenChange,
}: {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}) {
  return (
    <Dialog isOpen={isOpen} onOpenChange={onOpenChange} title="Import">
      {isOpen && <ImportFile />}
    </Dialog>
  );
}

function ImportFile() {
  const { actions } = useRuntime();
  const [file, setFile] = useState<File | null>(null);
  const [error, setError] = useState<string>();
  const [isImporting, setImporting] = useState(false);
  const [imported, setImported] = useState<Imported | null>(null);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (isImporting || file === null) return;
    if (file.size > BYTES_MAX)
      return setError(`The file has ${Math.ceil(file.size / MIB)} MiB; at most 10 MiB can be imported.`);
    const document = parseJson(await file.text());
    if (document === undefined) return setError("The file is not valid JSON.");
    setImporting(true);
    setError(undefined);
    const outcome = await actions.importDocument(document);
    setImporting(false);
    if (!outcome.isDone) return setError(`Nothing was imported: ${outcome.error}`);
    setImported(outcome.answer);
  }

  if (imported) return <ImportedNote imported={imported} />;
  return (
    <form onSubmit={submit} aria-label="Import" className="flex flex-col gap-3">
      <p className="text-soft text-sm">
        Variants and requirements are added to those of this session; the requirements are open again. The
        plan is taken if this session has none. You and the agent can read the conversation.
      </p>
      <Field
        id="session-import-file"
        label="File"
        error={error}
        hint="A session or variant exported as JSON, or a document of GrowthBook or PostHog."
      >
        <Input
          id="session-import-file"
          type="file"
          accept=".json,application/json"
          aria-invalid={error !== undefined}
          aria-describedby="session-import-file-note"
          className="px-1 py-[3px] text-soft file:mr-2 file:h-6 file:rounded-sm file:bg-hover file:px-2 file:text-ink file:text-xs"
          onChange={(event: ChangeEvent<HTMLInputElement>) => {
            setFile(event.target.files?.[0] ?? null);
            setError(undefined);
          }}
        />
      </Field>
      <Button type="submit" variant="primary" className="self-start" disabled={isImporting || file === null}>
        {isImporting ? "Importing" : "Import"}
      </Button>
    </form>
  );
}

function ImportedNote({ imported }: { imported: Imported }) {
  const { variants, messageCount, planItemCount, requirementCount } = imported.import;
  const contents = [
    ...variants.map(({ from, key }) => (from === key ? `variant ${key}` : `variant ${from} as ${key}`)),
    ...(messageCount > 0 ? [`a conversation of ${countOf(messageCount, "message")}`] : []),
    ...(planItemCount > 0 ? [`a plan of ${countOf(planItemCount, "item")}`] : []),
    ...(requirementCount > 0 ? [countOf(requirementCount, "requirement")] : []),
  ];
  return (
    <div className="flex flex-col gap-3 text-sm">
      <p role="status" className="[overflow-wrap:anywhere]">
        {contents.length > 0
          ? `Imported ${contents.join(", ")}.`
          : "The document contains nothing to import."}
      </p>
      <LeftOutList leftOut={imported.leftOut} />
    </div>
  );
}

/** @returns undefined for text that is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
