"use client";

import { ArrowRight, LoaderCircle } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Field, Input, Textarea } from "#components/ui/field.tsx";
import { Switch } from "#components/ui/switch.tsx";
import { composeCurl, composeRequest, fieldOfError, startSession } from "#lib/page/calls/start-session.ts";
import { CurlPreview } from "./curl-preview.tsx";
import { readSchema } from "./read-schema.ts";
import { SchemaEditor } from "./schema-editor.tsx";

const TASK_EXAMPLE = "Look at this page and tell me what its checkout asks for.";

type Problem = { field: "task" | "targetUrl" | "outputSchema" | undefined; text: string };

const CONTROLS = { task: "task", targetUrl: "url", outputSchema: "schema" };

/** Starts a session: what to do, on which page, and whether a typed result is wanted. */
export function StartForm({ demoUrl, baseUrl }: { demoUrl: string; baseUrl: string }) {
  const [task, setTask] = useState("");
  const [targetUrl, setTargetUrl] = useState(demoUrl);
  const [isStructured, setStructured] = useState(false);
  const [schemaText, setSchemaText] = useState("");
  const [isStarting, setStarting] = useState(false);
  const [problem, setProblem] = useState<Problem>();

  const read = isStructured ? readSchema(schemaText) : undefined;
  const schema = read?.isValid ? read.schema : undefined;
  const request = composeRequest(task.trim() || TASK_EXAMPLE, targetUrl.trim(), schema);
  const problemAt = (field: Problem["field"]) => (problem?.field === field ? problem?.text : undefined);
  const schemaProblem = schemaText !== "" && read && !read.isValid ? read.problem : problemAt("outputSchema");

  function edit<Value>(set: (value: Value) => void): (value: Value) => void {
    return (value) => {
      set(value);
      setProblem(undefined);
    };
  }
  /** Says what is wrong where it is, and goes there. */
  function complain(found: Problem): void {
    setProblem(found);
    if (found.field) document.getElementById(CONTROLS[found.field])?.focus();
  }
  async function start(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (isStarting) return;
    if (task.trim() === "") return complain({ field: "task", text: "Say what the agent is to do." });
    if (read && !read.isValid) return complain({ field: "outputSchema", text: read.problem });
    setStarting(true);
    const outcome = await startSession(request);
    // The form stays as it is while the session opens: coming back finds it filled in.
    if (outcome.isDone) return location.assign(outcome.answer.shareUrl);
    setStarting(false);
    complain({ field: fieldOfError(outcome.error), text: outcome.error });
  }

  return (
    <div className="grid gap-6 lg:grid-cols-[minmax(0,1fr)_400px]">
      <form onSubmit={start} noValidate className="flex flex-col gap-4">
        <h1 className="font-semibold text-xl">Start a session</h1>
        <Field id="task" label="Task" error={problemAt("task")}>
          <Textarea
            id="task"
            value={task}
            rows={4}
            autoFocus
            placeholder={TASK_EXAMPLE}
            aria-invalid={problem?.field === "task"}
            aria-describedby={problemAt("task") && "task-note"}
            onChange={(event) => edit(setTask)(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.metaKey || event.ctrlKey))
                event.currentTarget.form?.requestSubmit();
            }}
            className="max-h-80 min-h-28"
          />
        </Field>
        <Field
          id="url"
          label="Page"
          hint="Where the browser opens. It can be left empty."
          error={problemAt("targetUrl")}
        >
          <Input
            id="url"
            type="url"
            value={targetUrl}
            placeholder="https://"
            spellCheck={false}
            aria-invalid={problem?.field === "targetUrl"}
            aria-describedby="url-note"
            onChange={(event) => edit(setTargetUrl)(event.target.value)}
          />
        </Field>
        <div className="flex items-center gap-3">
          <Switch id="structured" checked={isStructured} onCheckedChange={edit(setStructured)} />
          <label htmlFor="structured" className="font-medium text-sm">
            Structured result
          </label>
        </div>
        {isStructured && (
          <SchemaEditor text={schemaText} problem={schemaProblem} onChange={edit(setSchemaText)} />
        )}
        {problem && problem.field === undefined && (
          <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-bad text-sm">
            {problem.text}
          </p>
        )}
        <div className="flex items-center gap-3">
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
          <span className="text-faint text-xs max-sm:hidden">Ctrl+Enter starts</span>
        </div>
      </form>
      <CurlPreview command={composeCurl(baseUrl, request)} />
    </div>
  );
}
