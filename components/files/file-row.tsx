"use client";

import { Download, File as FileIcon, FileText, Folder, Image as ImageIcon, Trash2 } from "lucide-react";
import { useState } from "react";
import { addressOf } from "#lib/page/actions/file-actions.ts";
import { formatSize } from "#lib/page/labels/format.ts";
import type { WorkspaceFile } from "#lib/page/state/view-types.ts";
import { useRuntime, useSession } from "../runtime/session-context.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { Age } from "../ui/time.tsx";

/** Shows a file or folder: its name, its size and its age, and buttons that download and remove it. */
export function FileRow({
  file,
  mayRemove,
  onOpen,
  onRemoved,
}: {
  file: WorkspaceFile;
  mayRemove: boolean;
  onOpen: () => void;
  onRemoved: () => void;
}) {
  const { actions } = useRuntime();
  const { paths } = useSession();
  const [error, setError] = useState<string | null>(null);
  const name = file.path.split("/").at(-1) ?? file.path;
  const Icon = iconOf(file);

  async function remove(): Promise<void> {
    const outcome = await actions.removeFile(file.path);
    setError(outcome.isDone ? null : outcome.error);
    if (outcome.isDone) onRemoved();
  }
  return (
    <li className="flex min-h-9 items-center gap-2 px-2 text-sm">
      <button
        type="button"
        onClick={onOpen}
        className="flex min-w-0 flex-1 items-center gap-2 rounded-sm py-1 text-left hover:text-accent"
      >
        <Icon aria-hidden className="size-4 shrink-0 text-faint" />
        <span className="truncate" title={name}>
          {name}
        </span>
      </button>
      {error !== null && (
        <span role="alert" className="min-w-0 truncate text-bad text-xs" title={error}>
          {error}
        </span>
      )}
      {file.type === "file" && (
        <>
          <span className="shrink-0 text-faint text-xs tabular-nums">{formatSize(file.sizeBytes)}</span>
          <span className="w-24 shrink-0 text-right text-faint text-xs max-sm:hidden">
            <Age iso={file.modifiedAt} />
          </span>
          <IconButton label={`Download ${name}`} size="icon-sm" asChild>
            <a href={addressOf(paths.files, file.path)} download>
              <Download />
            </a>
          </IconButton>
        </>
      )}
      {mayRemove && (
        <IconButton label={`Remove ${name}`} size="icon-sm" onClick={() => void remove()}>
          <Trash2 />
        </IconButton>
      )}
    </li>
  );
}

function iconOf({ type, mediaType }: WorkspaceFile) {
  if (type === "folder") return Folder;
  if (mediaType?.startsWith("image/")) return ImageIcon;
  return mediaType?.startsWith("text/") || mediaType === "application/json" ? FileText : FileIcon;
}
