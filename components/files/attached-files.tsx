"use client";

import { Paperclip } from "lucide-react";
import { addressOf } from "#lib/page/actions/file-actions.ts";
import { formatSize } from "#lib/page/labels/format.ts";
import type { AttachmentPart } from "#lib/page/state/view-types.ts";
import { EvidencePicture } from "../runtime/evidence-picture.tsx";
import { useSession } from "../runtime/session-context.tsx";

/** Shows the files of a message: pictures as they were attached, and a link to each other file. */
export function AttachedFiles({ attachments }: { attachments: readonly AttachmentPart[] }) {
  const { paths } = useSession();
  if (attachments.length === 0) return null;
  return (
    <ul aria-label="Attached files" className="mt-2 flex flex-wrap gap-2">
      {attachments.map(({ path, mediaType, sizeBytes, evidenceId }) => (
        <li key={path} className="min-w-0 max-w-full">
          {evidenceId === null ? (
            <a
              href={addressOf(paths.files, path)}
              download
              className="flex h-7 items-center gap-1.5 rounded-md border bg-sunken px-2 text-xs hover:border-line-strong"
            >
              <Paperclip aria-hidden className="size-3.5 shrink-0 text-faint" />
              <span className="truncate font-medium">{path.split("/").at(-1)}</span>
              <span className="shrink-0 text-faint">{formatSize(sizeBytes)}</span>
            </a>
          ) : (
            <EvidencePicture
              evidence={{ id: evidenceId, kind: "file", title: path, url: null, mediaType }}
              className="block h-20 w-28"
            />
          )}
        </li>
      ))}
    </ul>
  );
}
