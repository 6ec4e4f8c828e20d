"use client";

import { type FormEvent, useEffect, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { lazily } from "#components/ui/lazily.tsx";
import { readTypedAddress } from "#lib/page/actions/read-typed-address.ts";
import { composeCurl, composeRequest, fieldOfError, startSession } from "#lib/page/actions/start-session.ts";
import { CurlPreview } from "./curl-preview.tsx";
import { NO_SCHEMA } from "./schema/written-schema.ts";
import {
  CONTROLS,
  type FieldName,
  OptionSwitches,
  StartButton,
  TargetField,
  TaskField,
} from "./start-fields.tsx";

const SchemaEditor = lazily(async () => (await import("./schema/schema-editor.tsx")).SchemaEditor);

/** Example tasks: one for a session that edits the page, and one for a session with a structured result. */
const EDITING_EXAMPLE = "Make the headline say “Winter sale” and hide the banner.";
const STRUCTURED_EXAMPLE = "Look at this page and tell me what its checkout asks for.";

type Problem = { field: FieldName | undefined; text: string };

/** Shows the form that starts a session from a task, the page to open, and optionally a schema for a typed result. */
export function StartForm({ demoUrl, baseUrl }: { demoUrl: string; baseUrl: string }) {
  const form = useStartForm(demoUrl);
  const { problem } = form;
  return (
    <div className="grid gap-6 lg:grid-cols-[minmax(0,1fr)_400px]">
      <form onSubmit={form.start} noValidate className="flex flex-col gap-4">
        <h1 className="font-semibold text-xl">Start a session</h1>
        <TaskField
          task={form.task}
          example={form.taskExample}
          problem={form.problemAt("task")}
          onChange={form.setTask}
        />
        <TargetField
          url={form.targetUrl}
          problem={form.problemAt("targetUrl")}
          onChange={form.setTargetUrl}
        />
        <OptionSwitches
          isStructured={form.isStructured}
          mayDelegate={form.mayDelegate}
          onStructured={form.setStructured}
          onDelegate={form.setMayDelegate}
        />
        {form.isStructured && (
          <SchemaEditor text={form.schemaText} problem={form.schemaProblem} onChange={form.setWritten} />
        )}
        {problem && problem.field === undefined && (
          <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-bad text-sm">
            {problem.text}
          </p>
        )}
        <div className="flex flex-wrap items-center gap-3">
          <StartButton isStarting={form.isStarting} />
          <Button size="lg" disabled={form.isStarting} onClick={() => void form.startExample()}>
            Try the example
          </Button>
          <span className="text-faint text-xs max-sm:hidden">Ctrl+Enter starts</span>
        </div>
      </form>
      <CurlPreview command={composeCurl(baseUrl, form.request)} />
    </div>
  );
}

/**
 * Returns the values of the form, the request that is built from them, and the problem that the page or the service
 * found.
 */
function useStartForm(demoUrl: string) {
  const [task, setTask] = useState("");
  const [targetUrl, setTargetUrl] = useState(demoUrl);
  const [isStructured, setStructured] = useState(false);
  const [written, setWritten] = useState(NO_SCHEMA);
  const [mayDelegate, setMayDelegate] = useState(false);
  const [isStarting, setStarting] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  // When a visitor navigates back to this page, the browser may restore it as the visitor left it, with `isStarting`
  // true.
  useEffect(() => {
    const reset = () => setStarting(false);
    window.addEventListener("pageshow", reset);
    return () => window.removeEventListener("pageshow", reset);
  }, []);

  const read = isStructured ? written.read : undefined;
  const schema = read?.isValid ? read.schema : undefined;
  const taskExample = isStructured ? STRUCTURED_EXAMPLE : EDITING_EXAMPLE;
  const target = readTarget(targetUrl);
  const request = composeRequest({
    task: task.trim() || taskExample,
    targetUrl: target.isAddress ? target.url : targetUrl.trim(),
    outputSchema: schema,
    mayDelegate,
  });
  const problemAt = (field: FieldName) => (problem?.field === field ? problem.text : undefined);

  /** Returns a setter that also clears the problem. */
  function edit<Value>(set: (value: Value) => void): (value: Value) => void {
    return (value) => {
      set(value);
      setProblem(undefined);
    };
  }
  /** Shows a problem, and focuses the field that it concerns. */
  function report(found: Problem): void {
    setProblem(found);
    if (found.field) document.getElementById(CONTROLS[found.field])?.focus();
  }
  async function start(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (isStarting) return;
    if (task.trim() === "") return report({ field: "task", text: "Describe what the agent should do." });
    if (!target.isAddress) return report({ field: "targetUrl", text: target.problem });
    if (read && !read.isValid) return report({ field: "outputSchema", text: read.problem });
    await send(request);
  }
  /** Starts the example of the task field on the demo page, whatever the form contains. */
  const startExample = () =>
    send(
      composeRequest({
        task: EDITING_EXAMPLE,
        targetUrl: demoUrl,
        outputSchema: undefined,
        mayDelegate: false,
      }),
    );
  async function send(sent: typeof request): Promise<void> {
    setStarting(true);
    const outcome = await startSession(sent);
    // The form is not cleared, so that a visitor who returns from the session's page finds the values again.
    if (outcome.isDone) return location.assign(outcome.answer.shareUrl);
    setStarting(false);
    report({ field: fieldOfError(outcome.error), text: outcome.error });
  }

  return {
    task,
    taskExample,
    targetUrl,
    isStructured,
    schemaText: written.text,
    mayDelegate,
    isStarting,
    problem,
    request,
    problemAt,
    start,
    startExample,
    schemaProblem: written.text !== "" && read && !read.isValid ? read.problem : problemAt("outputSchema"),
    setTask: edit(setTask),
    setTargetUrl: edit(setTargetUrl),
    setStructured: edit(setStructured),
    setWritten: edit(setWritten),
    setMayDelegate: edit(setMayDelegate),
  };
}

/** Reads the address of the page to open. The field may be empty. */
const readTarget = (text: string): ReturnType<typeof readTypedAddress> =>
  text.trim() === "" ? { isAddress: true, url: "" } : readTypedAddress(text);
