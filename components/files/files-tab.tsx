"use client";

import { FolderOpen, Upload as UploadIcon } from "lucide-react";
import { useState } from "react";
import { mayDirect } from "#lib/page/state/session-state.ts";
import type { WorkspaceFile } from "#lib/page/state/view-types.ts";
import { useSession } from "../runtime/session-context.tsx";
import { Button } from "../ui/button.tsx";
import { cn } from "../ui/cn.ts";
import { EmptyNote } from "../ui/empty-note.tsx";
import { FileButton } from "./file-button.tsx";
import { FilePreview } from "./file-preview.tsx";
import { FileRow } from "./file-row.tsx";
import { UploadList } from "./upload-list.tsx";
import { useFileDrop } from "./use-file-drop.ts";
import { useFiles } from "./use-files.ts";
import { useUploads } from "./use-uploads.ts";

/** Shows the files of the workspace, folder by folder. People with the role `drive` can upload and remove files. */
export function FilesTab() {
  const [folder, setFolder] = useState("");
  const mayChange = mayDirect(useSession());
  // The uploads of a folder belong to it, so another folder begins with none.
  return <Folder key={folder} folder={folder} mayChange={mayChange} onOpen={setFolder} />;
}

function Folder({
  folder,
  mayChange,
  onOpen,
}: {
  folder: string;
  mayChange: boolean;
  onOpen: (folder: string) => void;
}) {
  const { listed, error, readMore, readAgain } = useFiles(folder);
  const { uploads, add, remove, forget } = useUploads(folder);
  const { isOver, dropProps } = useFileDrop(add, mayChange);
  const [shown, setShown] = useState<WorkspaceFile | null>(null);
  const files = (listed?.files ?? []).toSorted(
    (one, other) => Number(one.type === "file") - Number(other.type === "file"),
  );
  return (
    <section
      aria-label="Files of the workspace"
      className={cn("flex min-h-full flex-col gap-2 p-3", isOver && "bg-hover")}
      {...dropProps}
    >
      <div className="flex min-h-7 items-center gap-2">
        <Breadcrumb folder={folder} onOpen={onOpen} />
        {mayChange && (
          <FileButton label="Upload files" onFiles={add}>
            <UploadIcon />
          </FileButton>
        )}
      </div>
      <UploadList
        label="Uploads"
        uploads={uploads}
        onRemove={(upload) => (upload.path === null ? remove(upload) : forget([upload]))}
      />
      {listed?.note && <p className="text-sm text-warn">{listed.note}</p>}
      {error !== null && (
        <p role="alert" className="flex items-center gap-2 text-bad text-sm">
          <span className="min-w-0 flex-1">{error}</span>
          <Button size="sm" onClick={readAgain}>
            Try again
          </Button>
        </p>
      )}
      {listed && files.length === 0 && (
        <EmptyNote icon={<FolderOpen />} title="No files here">
          {mayChange
            ? "Files of the agent, downloads and uploads appear here. Drop files to upload them."
            : "Files of the agent, downloads and uploads appear here."}
        </EmptyNote>
      )}
      {files.length > 0 && (
        <ul aria-label="Files" className="divide-y rounded-md border">
          {files.map((file) => (
            <FileRow
              key={file.path}
              file={file}
              mayRemove={mayChange}
              onOpen={() => (file.type === "folder" ? onOpen(file.path) : setShown(file))}
              onRemoved={readAgain}
            />
          ))}
        </ul>
      )}
      {listed?.nextCursor != null && (
        <Button size="sm" className="self-start" onClick={() => void readMore()}>
          Show more
        </Button>
      )}
      {shown && <FilePreview file={shown} onClose={() => setShown(null)} />}
    </section>
  );
}

function Breadcrumb({ folder, onOpen }: { folder: string; onOpen: (folder: string) => void }) {
  const names = folder === "" ? [] : folder.split("/");
  const places = [
    { name: "Workspace", path: "" },
    ...names.map((name, index) => ({ name, path: names.slice(0, index + 1).join("/") })),
  ];
  return (
    <nav aria-label="Folder" className="flex min-w-0 flex-1 flex-wrap items-center gap-x-1 text-sm">
      {places.map(({ name, path }, index) => (
        <span key={path} className="flex min-w-0 items-center gap-1">
          {index > 0 && (
            <span aria-hidden className="text-faint">
              /
            </span>
          )}
          {path === folder ? (
            <span aria-current="location" className="truncate font-medium">
              {name}
            </span>
          ) : (
            <button
              type="button"
              onClick={() => onOpen(path)}
              className="truncate rounded-sm text-soft hover:text-ink"
            >
              {name}
            </button>
          )}
        </span>
      ))}
    </nav>
  );
}
