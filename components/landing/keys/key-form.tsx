"use client";

import { type FormEvent, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Field, Input, Select } from "#components/ui/field.tsx";
import { createKey, type FreshKey } from "#lib/page/actions/key-actions.ts";

const SCOPES = {
  all: { label: "Read and write", scopes: ["sessions:read", "sessions:write"] },
  read: { label: "Read only", scopes: ["sessions:read"] },
  write: { label: "Write only", scopes: ["sessions:write"] },
};

const LIVES = { "30": "30 days", "90": "90 days", "365": "One year", never: "Never" };

type FieldName = "name" | "ownerId";
type Problem = { field: FieldName | undefined; text: string };

/** Shows the form that creates an API key. */
export function KeyForm({ onCreated }: { onCreated: (fresh: FreshKey) => void }) {
  const [name, setName] = useState("");
  const [ownerId, setOwnerId] = useState("local");
  const [scopes, setScopes] = useState<keyof typeof SCOPES>("all");
  const [life, setLife] = useState<keyof typeof LIVES>("90");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const problemAt = (field: FieldName) => (problem?.field === field ? problem.text : undefined);
  function report(found: Problem): void {
    setProblem(found);
    if (found.field) document.getElementById(`key-${found.field}`)?.focus();
  }
  async function create(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (isBusy) return;
    if (name.trim() === "") return report({ field: "name", text: "Write what the key is for." });
    setBusy(true);
    const outcome = await createKey({
      name: name.trim(),
      ownerId: ownerId.trim(),
      scopes: SCOPES[scopes].scopes,
      expiresInDays: life === "never" ? undefined : Number(life),
    });
    setBusy(false);
    if (!outcome.isDone) return report({ field: fieldOf(outcome.error), text: outcome.error });
    setName("");
    setProblem(undefined);
    onCreated(outcome.answer);
  }
  return (
    <form
      onSubmit={(event) => void create(event)}
      noValidate
      className="grid items-start gap-3 rounded-lg border bg-surface p-4 sm:grid-cols-2 lg:grid-cols-4"
    >
      <Field id="key-name" label="Name" error={problemAt("name")}>
        <Input
          id="key-name"
          value={name}
          maxLength={200}
          placeholder="nightly checks"
          aria-invalid={problemAt("name") !== undefined}
          aria-describedby={problemAt("name") && "key-name-note"}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <Field
        id="key-ownerId"
        label="Owner"
        hint="Whose sessions the key can access."
        error={problemAt("ownerId")}
      >
        <Input
          id="key-ownerId"
          value={ownerId}
          maxLength={200}
          autoCapitalize="off"
          spellCheck={false}
          aria-invalid={problemAt("ownerId") !== undefined}
          aria-describedby="key-ownerId-note"
          onChange={(event) => setOwnerId(event.target.value)}
        />
      </Field>
      <Field id="key-scopes" label="Scopes">
        <Choices id="key-scopes" value={scopes} choices={labelsOf(SCOPES)} onChange={setScopes} />
      </Field>
      <Field id="key-life" label="Expires after">
        <Choices id="key-life" value={life} choices={LIVES} onChange={setLife} />
      </Field>
      {problem && problem.field === undefined && (
        <p role="alert" className="text-bad text-sm sm:col-span-full">
          {problem.text}
        </p>
      )}
      <Button type="submit" variant="primary" disabled={isBusy} className="justify-self-start">
        Create a key
      </Button>
    </form>
  );
}

function Choices<Value extends string>({
  id,
  value,
  choices,
  onChange,
}: {
  id: string;
  value: Value;
  choices: Record<Value, string>;
  onChange: (value: Value) => void;
}) {
  return (
    // The cast is safe, because every option is one of the values.
    <Select id={id} value={value} onChange={(event) => onChange(event.target.value as Value)}>
      {Object.entries<string>(choices).map(([each, label]) => (
        <option key={each} value={each}>
          {label}
        </option>
      ))}
    </Select>
  );
}

const labelsOf = (scopes: typeof SCOPES): Record<keyof typeof SCOPES, string> => ({
  all: scopes.all.label,
  read: scopes.read.label,
  write: scopes.write.label,
});

const fieldOf = (error: string): FieldName | undefined =>
  /^(name|ownerId)\b/.exec(error)?.[1] as FieldName | undefined;
