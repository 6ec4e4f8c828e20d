"use client";

import type { ReactNode } from "react";
import { listChoices } from "#lib/page/state/form-values.ts";
import type { FormField, FormValue } from "#lib/page/state/view-types.ts";
import { Field, Input, Select } from "../../ui/field.tsx";

type InputProps = {
  id: string;
  name: string;
  field: FormField;
  isRequired: boolean;
  value: FormValue | undefined;
  /**
   * What is wrong with the value, as the end of a sentence that begins with the field's label. Undefined if the value
   * is valid.
   */
  problem: string | undefined;
  onChange: (value: FormValue | undefined) => void;
};

const INPUT_TYPES: Record<NonNullable<FormField["format"]>, string> = {
  date: "date",
  // A text field, because a field of the type `datetime-local` cannot hold a time zone, and an answer may contain one.
  "date-time": "text",
  email: "email",
  uri: "url",
};

/** Shows one field of a question's form, with its label, its hint and its problem. */
export function FormFieldInput(props: InputProps) {
  const { id, name, field, isRequired, problem } = props;
  const label = field.title ?? name;
  if (field.type === "boolean") return <CheckBox {...props} label={label} />;
  if (field.type === "array") return <Choices {...props} label={label} />;
  return (
    <Field
      id={id}
      label={
        <>
          {label}
          {!isRequired && <span className="font-normal text-soft"> (optional)</span>}
        </>
      }
      hint={field.description}
      error={problem && `${label} ${problem}.`}
    >
      <ValueInput {...props} />
    </Field>
  );
}

function ValueInput({ id, field, isRequired, value, problem, onChange }: InputProps) {
  const choices = listChoices(field);
  const shared = {
    id,
    // Keeps the label visible when the form moves the focus to the field.
    className: "scroll-mt-10",
    "aria-required": isRequired,
    "aria-invalid": problem !== undefined,
    "aria-describedby": noteId({ id, field, problem }),
  };
  if (choices.length > 0) {
    return (
      <Select {...shared} value={String(value ?? "")} onChange={(event) => onChange(event.target.value)}>
        <option value="">{isRequired ? "Choose…" : "None"}</option>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </Select>
    );
  }
  if (field.type === "number" || field.type === "integer") {
    return (
      <Input
        {...shared}
        type="number"
        inputMode={field.type === "integer" ? "numeric" : "decimal"}
        step={field.type === "integer" ? 1 : "any"}
        min={field.minimum}
        max={field.maximum}
        value={typeof value === "number" ? value : ""}
        onChange={({ target }) => onChange(target.value === "" ? undefined : target.valueAsNumber)}
      />
    );
  }
  return (
    <Input
      {...shared}
      dir="auto"
      type={field.format ? INPUT_TYPES[field.format] : "text"}
      placeholder={field.format === "date-time" ? "2026-03-31T09:30:00Z" : undefined}
      value={typeof value === "string" ? value : ""}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function CheckBox({ id, field, label, value, problem, onChange }: InputProps & { label: string }) {
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="flex items-center gap-2 font-medium text-sm">
        <input
          id={id}
          type="checkbox"
          className="size-4 accent-(--color-accent)"
          aria-describedby={noteId({ id, field, problem })}
          checked={value === true}
          onChange={(event) => onChange(event.target.checked)}
        />
        {label}
      </label>
      <Note
        id={`${id}-note`}
        text={problem ? `${label} ${problem}.` : field.description}
        isProblem={problem !== undefined}
      />
    </div>
  );
}

function Choices({ id, field, label, isRequired, value, problem, onChange }: InputProps & { label: string }) {
  const chosen = Array.isArray(value) ? value : [];
  return (
    <fieldset className="flex flex-col gap-1.5" aria-describedby={noteId({ id, field, problem })}>
      <legend className="mb-1.5 font-medium text-sm">
        {label}
        {!isRequired && <span className="font-normal text-soft"> (optional)</span>}
      </legend>
      <div className="flex flex-wrap gap-x-4 gap-y-1.5">
        {listChoices(field).map((choice, index) => (
          <label key={choice.value} className="flex items-center gap-2 text-sm">
            <input
              // The form focuses a field by its id, so the first check box of a list of choices gets the id of the
              // field.
              id={index === 0 ? id : undefined}
              type="checkbox"
              className="size-4 accent-(--color-accent)"
              checked={chosen.includes(choice.value)}
              onChange={({ target }) =>
                onChange(
                  target.checked ? [...chosen, choice.value] : chosen.filter((each) => each !== choice.value),
                )
              }
            />
            {choice.label}
          </label>
        ))}
      </div>
      <Note
        id={`${id}-note`}
        text={problem ? `${label} ${problem}.` : field.description}
        isProblem={problem !== undefined}
      />
    </fieldset>
  );
}

function Note({ id, text, isProblem }: { id: string; text: ReactNode; isProblem: boolean }) {
  if (!text) return null;
  return isProblem ? (
    <p id={id} role="alert" className="text-bad text-sm">
      {text}
    </p>
  ) : (
    <p id={id} className="text-soft text-xs">
      {text}
    </p>
  );
}

/** Returns the id of the element with a field's hint or problem; undefined if the field has neither. */
const noteId = ({ id, field, problem }: Pick<InputProps, "id" | "field" | "problem">): string | undefined =>
  problem !== undefined || field.description ? `${id}-note` : undefined;
