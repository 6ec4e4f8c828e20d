"use client";

import { ArrowRight, LoaderCircle } from "lucide-react";
import { Button } from "#components/ui/button.tsx";
import { Field, Input, Textarea } from "#components/ui/field.tsx";
import { Switch } from "#components/ui/switch.tsx";

/** The fields of the start form that may have a problem. */
export type FieldName = "task" | "targetUrl" | "outputSchema";

/** Ids of the form's controls. */
export const CONTROLS: Record<FieldName, string> = { task: "task", targetUrl: "url", outputSchema: "schema" };

/** Shows the field for the task. */
export function TaskField({
  task,
  example,
  problem,
  onChange,
}: {
  task: string;
  example: string;
  problem: string | undefined;
  onChange: (task: string) => void;
}) {
  return (
    <Field id={CONTROLS.task} label="Task" error={problem}>
      <Textarea
        id={CONTROLS.task}
        value={task}
        rows={4}
        autoFocus
        placeholder={example}
        aria-invalid={problem !== undefined}
        aria-describedby={problem && "task-note"}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey))
            event.currentTarget.form?.requestSubmit();
        }}
        className="max-h-80 min-h-28"
      />
    </Field>
  );
}

/** Shows the field for the page to open. */
export function TargetField({
  url,
  problem,
  onChange,
}: {
  url: string;
  problem: string | undefined;
  onChange: (url: string) => void;
}) {
  return (
    <Field id={CONTROLS.targetUrl} label="Page" hint="The browser opens this page. Optional." error={problem}>
      <Input
        id={CONTROLS.targetUrl}
        inputMode="url"
        autoCapitalize="off"
        autoCorrect="off"
        value={url}
        placeholder="shop.example"
        spellCheck={false}
        aria-invalid={problem !== undefined}
        aria-describedby="url-note"
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}

/** Shows the switches of the form: one for a structured result, and one for sub-agents. */
export function OptionSwitches({
  isStructured,
  mayDelegate,
  onStructured,
  onDelegate,
}: {
  isStructured: boolean;
  mayDelegate: boolean;
  onStructured: (isOn: boolean) => void;
  onDelegate: (isOn: boolean) => void;
}) {
  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex flex-wrap items-center gap-x-6 gap-y-3">
        <div className="flex items-center gap-3">
          <Switch id="structured" checked={isStructured} onCheckedChange={onStructured} />
          <label htmlFor="structured" className="font-medium text-sm">
            Structured result
          </label>
        </div>
        <div className="flex items-center gap-3">
          <Switch
            id="delegate"
            checked={mayDelegate}
            aria-describedby="delegate-note"
            onCheckedChange={onDelegate}
          />
          <label htmlFor="delegate" className="font-medium text-sm">
            May delegate to sub-agents
          </label>
        </div>
      </div>
      <p id="delegate-note" className="text-faint text-xs">
        Sub-agents work in parallel on parts of the task, each with its own browser if it needs one.
      </p>
    </div>
  );
}

/** Shows the button that starts the session. */
export function StartButton({ isStarting }: { isStarting: boolean }) {
  return (
    <Button type="submit" variant="primary" size="lg" disabled={isStarting}>
      {isStarting ? (
        <>
          <LoaderCircle aria-hidden className="animate-spin" /> Starting
        </>
      ) : (
        <>
          Start <ArrowRight aria-hidden />
        </>
      )}
    </Button>
  );
}
