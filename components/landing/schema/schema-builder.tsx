"use client";

import { Plus, Trash2 } from "lucide-react";
import { Button } from "#components/ui/button.tsx";
import { Input, Select } from "#components/ui/field.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Switch } from "#components/ui/switch.tsx";
import {
  FIELD_TYPES,
  type FieldShape,
  type FieldType,
  newField,
  newShape,
  type SchemaField,
} from "#lib/page/state/schema-fields.ts";

/** A field with a problem, which is shown at the field. */
type FieldProblem = { id: string; text: string } | undefined;

/** Lets a person describe the fields of an object. */
export function SchemaBuilder({
  fields,
  problem,
  label,
  onChange,
}: {
  fields: SchemaField[];
  problem: FieldProblem;
  /** Names the list of fields for screen readers. */
  label: string;
  onChange: (fields: SchemaField[]) => void;
}) {
  const replace = (changed: SchemaField) =>
    onChange(fields.map((field) => (field.id === changed.id ? changed : field)));
  return (
    <div className="flex flex-col items-start gap-2">
      {fields.length > 0 && (
        <ul aria-label={label} className="flex w-full flex-col gap-2">
          {fields.map((field, index) => (
            <FieldEditor
              key={field.id}
              field={field}
              number={index + 1}
              problem={problem}
              onChange={replace}
              onRemove={() => onChange(fields.filter(({ id }) => id !== field.id))}
            />
          ))}
        </ul>
      )}
      <Button size="sm" onClick={() => onChange([...fields, newField()])}>
        <Plus aria-hidden /> Add a field
      </Button>
    </div>
  );
}

function FieldEditor({
  field,
  number,
  problem,
  onChange,
  onRemove,
}: {
  field: SchemaField;
  number: number;
  problem: FieldProblem;
  onChange: (field: SchemaField) => void;
  onRemove: () => void;
}) {
  const { id, name, shape } = field;
  const called = name === "" ? `field ${number}` : name;
  const text = problem?.id === id ? problem.text : undefined;
  return (
    <li className="flex flex-col gap-2 rounded-lg border bg-surface p-2">
      <div className="flex flex-wrap items-center gap-2">
        <Input
          aria-label={`Name of ${called}`}
          placeholder="name"
          value={name}
          maxLength={100}
          autoCapitalize="off"
          spellCheck={false}
          aria-invalid={text !== undefined}
          aria-describedby={text && `${id}-note`}
          onChange={(event) => onChange({ ...field, name: event.target.value })}
          className="w-auto min-w-0 flex-1 basis-32"
        />
        <ShapeSelect
          label={`Type of ${called}`}
          shape={shape}
          onChange={(changed) => onChange({ ...field, shape: changed })}
        />
        <span className="flex items-center gap-2">
          <Switch
            id={`${id}-required`}
            checked={field.isRequired}
            aria-label={`${called} is required`}
            onCheckedChange={(isRequired) => onChange({ ...field, isRequired })}
          />
          <span aria-hidden className="text-soft text-xs">
            Required
          </span>
        </span>
        <IconButton size="icon-sm" label={`Remove ${called}`} onClick={onRemove}>
          <Trash2 />
        </IconButton>
      </div>
      <Input
        aria-label={`Description of ${called}`}
        placeholder="Description for the agent. Optional."
        value={field.description}
        maxLength={1_000}
        onChange={(event) => onChange({ ...field, description: event.target.value })}
      />
      <ShapeEditor
        called={called}
        shape={shape}
        problem={problem}
        onChange={(changed) => onChange({ ...field, shape: changed })}
      />
      {text !== undefined && (
        <p id={`${id}-note`} className="text-bad text-sm">
          {text}
        </p>
      )}
    </li>
  );
}

function ShapeSelect({
  label,
  shape,
  onChange,
}: {
  label: string;
  shape: FieldShape;
  onChange: (shape: FieldShape) => void;
}) {
  return (
    <Select
      aria-label={label}
      value={shape.type}
      // The cast is safe, because every option is a type of fields.
      onChange={(event) => onChange(newShape(event.target.value as FieldType))}
      className="w-auto"
    >
      {Object.entries(FIELD_TYPES).map(([type, word]) => (
        <option key={type} value={type}>
          {word}
        </option>
      ))}
    </Select>
  );
}

/** Shows what a choice, a list or a group holds. The other types hold nothing. */
function ShapeEditor({
  called,
  shape,
  problem,
  onChange,
}: {
  called: string;
  shape: FieldShape;
  problem: FieldProblem;
  onChange: (shape: FieldShape) => void;
}) {
  switch (shape.type) {
    case "choice":
      return (
        <Input
          aria-label={`Choices of ${called}`}
          placeholder="small, medium, large"
          defaultValue={shape.choices.join(", ")}
          onChange={(event) => onChange({ type: "choice", choices: readChoices(event.target.value) })}
        />
      );
    case "list":
      return (
        <div className="flex flex-col items-start gap-2 border-l-2 pl-3">
          <span className="flex items-center gap-2 text-soft text-xs">
            Each entry is
            <ShapeSelect
              label={`Type of the entries of ${called}`}
              shape={shape.item}
              onChange={(item) => onChange({ type: "list", item })}
            />
          </span>
          <div className="w-full">
            <ShapeEditor
              called={`the entries of ${called}`}
              shape={shape.item}
              problem={problem}
              onChange={(item) => onChange({ type: "list", item })}
            />
          </div>
        </div>
      );
    case "group":
      return (
        <div className="border-l-2 pl-3">
          <SchemaBuilder
            label={`Fields of ${called}`}
            fields={shape.fields}
            problem={problem}
            onChange={(fields) => onChange({ type: "group", fields })}
          />
        </div>
      );
    default:
      return null;
  }
}

const readChoices = (text: string): string[] => [
  ...new Set(
    text
      .split(",")
      .map((choice) => choice.trim())
      .filter((choice) => choice !== ""),
  ),
];
