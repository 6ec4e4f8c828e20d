"use client";

import { type FormEvent, useId, useState } from "react";
import { ASSERTION_WORDS } from "#lib/page/labels/describe-plan.ts";
import type { Assertion } from "#lib/page/state/view-types.ts";
import { Button } from "../ui/button.tsx";
import { Field, Input, Select } from "../ui/field.tsx";

/**
 * Focuses the field when it is mounted. If the component created this function, the function would be new in each
 * render, and React would call it and move the focus each time.
 */
const focusField = (field: HTMLInputElement | null): void => field?.focus();

type Draft = { text: string; assertion: Assertion | null };

/** Shows the fields of a requirement: the text, and an optional assertion, which every check tests. */
export function RequirementForm({
  start,
  pageUrl,
  submit,
  onSubmit,
  onCancel,
}: {
  start: Draft;
  /** Default address of a new assertion. */
  pageUrl: string;
  /** Label of the button. */
  submit: string;
  /** @returns why the requirement was not stored; null if it was stored. */
  onSubmit: (draft: Draft) => Promise<string | null>;
  onCancel: () => void;
}) {
  const id = useId();
  const [text, setText] = useState(start.text);
  const [assertion, setAssertion] = useState<Assertion | null>(start.assertion);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  function send(event: FormEvent): void {
    event.preventDefault();
    setBusy(true);
    setError(null);
    void onSubmit({ text: text.trim(), assertion }).then((problem) => {
      setBusy(false);
      setError(problem);
    });
  }
  return (
    <form onSubmit={send} className="flex flex-col gap-3">
      <Field id={`${id}-text`} label="Requirement">
        <Input
          ref={focusField}
          id={`${id}-text`}
          dir="auto"
          value={text}
          maxLength={500}
          placeholder="The button reads Pay now"
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      <label htmlFor={`${id}-asserted`} className="flex items-center gap-2 text-sm">
        <input
          id={`${id}-asserted`}
          type="checkbox"
          className="size-4 accent-(--color-accent)"
          checked={assertion !== null}
          onChange={({ target }) =>
            setAssertion(target.checked ? { url: pageUrl, selector: "", is: "visible" } : null)
          }
        />
        Test it in each check of a variant
      </label>
      {assertion && <AssertionFields id={id} assertion={assertion} onChange={setAssertion} />}
      {error && (
        <p role="alert" className="text-bad text-sm">
          {error}
        </p>
      )}
      <div className="flex gap-2">
        <Button type="submit" variant="primary" disabled={isBusy || text.trim() === ""}>
          {submit}
        </Button>
        <Button variant="ghost" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

const KINDS = Object.entries(ASSERTION_WORDS) as [Assertion["is"], string][];

function AssertionFields({
  id,
  assertion,
  onChange,
}: {
  id: string;
  assertion: Assertion;
  onChange: (assertion: Assertion) => void;
}) {
  const { url, selector, is, value } = assertion;
  return (
    <div className="grid grid-cols-1 gap-3 rounded-md bg-sunken p-3 sm:grid-cols-2">
      <Field id={`${id}-url`} label="Page" hint="Query and fragment are ignored.">
        <Input
          id={`${id}-url`}
          type="url"
          value={url}
          placeholder="https://shop.example/checkout"
          onChange={(event) => onChange({ ...assertion, url: event.target.value })}
        />
      </Field>
      <Field id={`${id}-selector`} label="CSS selector">
        <Input
          id={`${id}-selector`}
          value={selector}
          placeholder="#pay"
          spellCheck={false}
          className="font-mono"
          onChange={(event) => onChange({ ...assertion, selector: event.target.value })}
        />
      </Field>
      <Field id={`${id}-is`} label="What must hold">
        <Select
          id={`${id}-is`}
          value={is}
          onChange={(event) => onChange(withKind(assertion, event.target.value as Assertion["is"]))}
        >
          {KINDS.map(([kind, words]) => (
            <option key={kind} value={kind}>
              {words}
            </option>
          ))}
        </Select>
      </Field>
      {is === "text" && (
        <Field id={`${id}-value`} label="Text">
          <Input
            id={`${id}-value`}
            dir="auto"
            value={String(value ?? "")}
            maxLength={500}
            onChange={(event) => onChange({ ...assertion, value: event.target.value })}
          />
        </Field>
      )}
      {is === "count" && (
        <Field id={`${id}-value`} label="Number of elements">
          <Input
            id={`${id}-value`}
            type="number"
            min={0}
            step={1}
            value={typeof value === "number" && Number.isFinite(value) ? value : ""}
            onChange={({ target }) => onChange({ ...assertion, value: target.valueAsNumber })}
          />
        </Field>
      )}
    </div>
  );
}

/** Changes the kind (`is`) of an assertion. Sets the value to the kind's default; removes it if the kind has none. */
function withKind({ url, selector }: Assertion, is: Assertion["is"]): Assertion {
  if (is === "text") return { url, selector, is, value: "" };
  return is === "count" ? { url, selector, is, value: 1 } : { url, selector, is };
}
