"use client";

import { FileText, FolderOpen, Upload } from "lucide-react";
import { useRef, useState } from "react";
import { useRuntime, useSession } from "#components/runtime/session-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { formatSize } from "#lib/page/labels/format.ts";
import { mayDirect } from "#lib/page/state/session-state.ts";
import type { Widget, WidgetAnswer } from "#lib/page/state/view-types.ts";

type Files = Extract<Widget, { kind: "files" }>;
type WorkspaceFile = { path: string; sizeBytes: number };

/** Asks the person for the files that the live page wants: from the person's machine, or from the workspace. */
export function FileRequest({
  widget,
  answer,
  cancel,
}: {
  widget: Files;
  answer: (given: WidgetAnswer) => void;
  cancel: () => void;
}) {
  const state = useSession();
  const { actions } = useRuntime();
  const picker = useRef<HTMLInputElement>(null);
  const [uploading, setUploading] = useState<{ name: string; part: number } | null>(null);
  const [stored, setStored] = useState<WorkspaceFile[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const { isMultiple, accept, files } = widget;

  async function upload(chosen: FileList | null): Promise<void> {
    setError(null);
    for (const file of chosen ?? []) {
      setUploading({ name: file.name, part: 0 });
      const outcome = await actions.giveFile(widget.id, file, (part) =>
        setUploading({ name: file.name, part }),
      );
      if (outcome.isDone) continue;
      setError(outcome.error);
      break;
    }
    setUploading(null);
  }
  async function listStored(): Promise<void> {
    setError(null);
    const outcome = await actions.listWorkspaceFiles();
    if (outcome.isDone) setStored(outcome.answer.files);
    else setError(outcome.error);
  }
  async function addStored(path: string): Promise<void> {
    setError(null);
    const outcome = await actions.addWorkspaceFile(widget.id, path);
    if (!outcome.isDone) setError(outcome.error);
  }

  return (
    <div
      role="dialog"
      aria-label="The page asks for files"
      className="flex max-h-full w-full max-w-md flex-col gap-3 overflow-auto rounded-xl border bg-raised p-4 text-sm shadow-(color:--shadow-color) shadow-lg"
    >
      <p className="font-medium">{isMultiple ? "The page asks for files" : "The page asks for a file"}</p>
      {accept && <p className="break-words text-faint text-xs">It accepts {accept}</p>}
      {mayDirect(state) ? (
        <div className="flex flex-wrap gap-2">
          <input
            ref={picker}
            type="file"
            multiple={isMultiple}
            accept={accept}
            aria-label="Files of this machine"
            onChange={(event) => upload(event.target.files)}
            className="sr-only"
            tabIndex={-1}
          />
          <Button autoFocus disabled={uploading !== null} onClick={() => picker.current?.click()}>
            <Upload aria-hidden /> From this machine
          </Button>
          <Button disabled={uploading !== null} onClick={listStored}>
            <FolderOpen aria-hidden /> From the workspace
          </Button>
        </div>
      ) : (
        <p className="text-soft">Files can be given only on the page of the main session.</p>
      )}
      {uploading && (
        <div className="flex flex-col gap-1">
          <span className="truncate text-soft">Uploading {uploading.name}</span>
          <progress
            aria-label={`Upload of ${uploading.name}`}
            value={uploading.part}
            className="h-1.5 w-full"
          />
        </div>
      )}
      {stored && (
        <ul aria-label="Files of the workspace" className="max-h-40 overflow-auto rounded-md border">
          {stored.length === 0 && <li className="px-3 py-2 text-faint">The workspace has no files.</li>}
          {stored.map(({ path, sizeBytes }) => (
            <li key={path}>
              <button
                type="button"
                onClick={() => addStored(path)}
                className="flex w-full items-center gap-2 px-3 py-1.5 text-left hover:bg-hover"
              >
                <span className="min-w-0 flex-1 break-all">{path}</span>
                <span className="shrink-0 text-faint text-xs">{formatSize(sizeBytes)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {files.length > 0 && (
        <ul aria-label="Chosen files" className="flex flex-col gap-1">
          {files.map(({ name, sizeBytes }, index) => (
            // Two files may have the same name.
            // biome-ignore lint/suspicious/noArrayIndexKey: files are only added
            <li key={`${index} ${name}`} className="flex items-center gap-2">
              <FileText aria-hidden className="size-4 shrink-0 text-faint" />
              <span className="min-w-0 flex-1 break-all">{name}</span>
              <span className="shrink-0 text-faint text-xs">{formatSize(sizeBytes)}</span>
            </li>
          ))}
        </ul>
      )}
      {error && (
        <p role="alert" className="text-bad">
          {error}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={cancel}>Cancel</Button>
        <Button
          variant="primary"
          disabled={files.length === 0 || uploading !== null}
          onClick={() => answer({ kind: "files" })}
        >
          {files.length > 1 ? `Give ${files.length} files` : "Give the file"}
        </Button>
      </div>
    </div>
  );
}
