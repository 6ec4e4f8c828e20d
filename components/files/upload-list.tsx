"use client";

import { Check, X } from "lucide-react";
import { formatSize } from "#lib/page/labels/format.ts";
import { cn } from "../ui/cn.ts";
import { IconButton } from "../ui/icon-button.tsx";
import type { Upload } from "./use-uploads.ts";

/** Lists files that a person uploads, each with its progress or its problem, and a button that removes it. */
export function UploadList({
  label,
  uploads,
  onRemove,
  className,
}: {
  label: string;
  uploads: readonly Upload[];
  onRemove: (upload: Upload) => void;
  className?: string;
}) {
  if (uploads.length === 0) return null;
  return (
    <ul aria-label={label} className={cn("flex flex-wrap gap-1.5", className)}>
      {uploads.map((upload) => (
        <li
          key={upload.id}
          className={cn(
            "relative flex h-7 min-w-0 max-w-full items-center gap-1.5 overflow-hidden rounded-md border bg-sunken pl-2 text-xs",
            upload.error !== null && "border-bad",
          )}
        >
          <span className="min-w-0 truncate font-medium" title={upload.name}>
            {upload.name}
          </span>
          {upload.error === null ? (
            <span className="flex shrink-0 items-center gap-1 text-faint tabular-nums">
              {upload.path === null ? (
                `${Math.round(upload.progress * 100)} %`
              ) : (
                <>
                  <Check aria-label="Uploaded" className="size-3.5" />
                  {formatSize(upload.sizeBytes)}
                </>
              )}
            </span>
          ) : (
            <span role="alert" className="min-w-0 truncate text-bad" title={upload.error}>
              {upload.error}
            </span>
          )}
          <IconButton
            type="button"
            label={`Remove ${upload.name}`}
            size="icon-sm"
            onClick={() => onRemove(upload)}
          >
            <X />
          </IconButton>
          {upload.error === null && upload.path === null && (
            <progress
              aria-label={`Upload of ${upload.name}`}
              value={upload.progress}
              className="absolute inset-x-0 bottom-0 h-0.5 w-full appearance-none [&::-webkit-progress-bar]:bg-transparent [&::-webkit-progress-value]:bg-accent"
            />
          )}
        </li>
      ))}
    </ul>
  );
}
