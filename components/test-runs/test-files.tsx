"use client";

import { FileDown } from "lucide-react";
import { classifyAttachment } from "#lib/page/labels/describe-test-run.ts";
import { formatSize } from "#lib/page/labels/format.ts";
import type { TestAttachment } from "#lib/page/state/view-types.ts";
import { StoredPicture } from "../runtime/evidence-picture.tsx";
import { useSession } from "../runtime/session-context.tsx";
import { CopyButton } from "../ui/copy-button.tsx";

/**
 * Shows the files of a test: pictures, the trace, and other files to download. For a file that was not kept, shows the
 * reason.
 */
export function TestFiles({ attachments }: { attachments: TestAttachment[] }) {
  const { paths } = useSession();
  const stored = attachments.flatMap((file) =>
    file.evidenceId === null ? [] : [{ ...file, id: file.evidenceId }],
  );
  const pictures = stored.filter((file) => classifyAttachment(file) === "picture");
  const files = stored.filter((file) => classifyAttachment(file) !== "picture");
  const missing = attachments.filter(({ evidenceId }) => evidenceId === null);
  return (
    <>
      {pictures.length > 0 && (
        <ul
          aria-label="Pictures"
          className="grid grid-cols-[repeat(auto-fill,minmax(min(200px,100%),1fr))] gap-3"
        >
          {pictures.map(({ id, name, mediaType }) => (
            <li key={id} className="min-w-0 max-w-80">
              <StoredPicture
                source={`${paths.artifacts}/${id}`}
                evidence={{ id, kind: "screenshot", title: name, url: null, mediaType }}
                className="block aspect-[16/10] w-full"
              />
              <p className="mt-1 text-faint text-xs [overflow-wrap:anywhere]">{name}</p>
            </li>
          ))}
        </ul>
      )}
      {files.length > 0 && (
        <ul aria-label="Files" className="flex flex-col gap-2">
          {files.map((file) => (
            <li key={file.id}>
              <a
                href={`${paths.artifacts}/${file.id}`}
                download
                className="inline-flex min-h-7 max-w-full items-center gap-2 rounded-md border px-2 text-soft text-xs hover:bg-hover hover:text-ink max-lg:min-h-9"
              >
                <FileDown aria-hidden className="size-3.5 shrink-0 text-faint" />
                <span className="sr-only">Download: </span>
                <span className="truncate">{file.name}</span>
                <span className="shrink-0 text-faint">{formatSize(file.sizeBytes)}</span>
              </a>
              {classifyAttachment(file) === "trace" && <HowToOpen id={file.id} />}
            </li>
          ))}
        </ul>
      )}
      {missing.map(({ name, problem }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: stored files never move
        <p key={index} className="text-faint text-xs [overflow-wrap:anywhere]">
          {name} was not kept: {problem}.
        </p>
      ))}
    </>
  );
}

/** Tells the reader how to open a trace, because this takes a program on the reader's own computer. */
function HowToOpen({ id }: { id: string }) {
  const command = `npx playwright show-trace ${id}.zip`;
  return (
    <p className="mt-1 text-faint text-xs">
      Open the downloaded trace with{" "}
      <code className="font-mono text-soft [overflow-wrap:anywhere]">{command}</code>{" "}
      <CopyButton text={command} label="Copy the command" variant="ghost" className="align-middle" />
    </p>
  );
}
