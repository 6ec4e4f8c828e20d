"use client";

import { Download, ExternalLink } from "lucide-react";
import { useEffect, useState } from "react";
import { addressOf } from "#lib/page/actions/file-actions.ts";
import { formatSize } from "#lib/page/labels/format.ts";
import type { WorkspaceFile } from "#lib/page/state/view-types.ts";
import { useRuntime, useSession } from "../runtime/session-context.tsx";
import { useStoredAddress } from "../runtime/use-stored-address.ts";
import { Button } from "../ui/button.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { Dialog } from "../ui/dialog.tsx";

/** Pictures of these types are sent inline. */
const PICTURE = /^image\/(?:png|jpeg|webp|gif)$/;
const TEXT = /^text\/|^application\/(?:json|yaml|xml)$|\+xml$/;

/** Shows a file of the workspace in a dialog: a picture, the beginning of a text, or a sentence. */
export function FilePreview({ file, onClose }: { file: WorkspaceFile; onClose: () => void }) {
  const { paths } = useSession();
  const address = addressOf(paths.files, file.path);
  const isPdf = file.mediaType === "application/pdf";
  return (
    <Dialog
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
      title={file.path}
      className="w-[min(960px,calc(100vw-32px))]"
    >
      <Content file={file} address={address} />
      <div className="mt-3 flex items-center gap-2">
        <span className="flex-1 truncate text-faint text-xs">{formatSize(file.sizeBytes)}</span>
        {isPdf && (
          <Button size="sm" asChild>
            <a href={address} target="_blank" rel="noopener noreferrer">
              <ExternalLink aria-hidden /> Open
            </a>
          </Button>
        )}
        <Button size="sm" asChild>
          <a href={address} download>
            <Download aria-hidden /> Download
          </a>
        </Button>
      </div>
    </Dialog>
  );
}

function Content({ file, address }: { file: WorkspaceFile; address: string }) {
  const type = file.mediaType ?? "";
  if (file.sizeBytes === 0) return <Sentence>The file is empty.</Sentence>;
  if (PICTURE.test(type)) return <Picture address={address} path={file.path} />;
  if (TEXT.test(type)) return <Text path={file.path} />;
  if (type === "application/pdf")
    return <Sentence>A PDF document opens in the viewer of your browser.</Sentence>;
  return <Sentence>There is no preview of this kind of file.</Sentence>;
}

function Picture({ address, path }: { address: string; path: string }) {
  const source = useStoredAddress(address);
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <Sentence>The picture cannot be shown.</Sentence>;
  return (
    // biome-ignore lint/performance/noImgElement: the file needs the cookie, and is shown as it is
    <img
      src={source}
      alt={path}
      onError={() => setBroken(true)}
      className="mx-auto max-h-[calc(100dvh-200px)] max-w-full rounded-md border object-contain"
    />
  );
}

function Text({ path }: { path: string }) {
  const { actions } = useRuntime();
  const [read, setRead] = useState<Awaited<ReturnType<typeof actions.readText>> | null>(null);
  useEffect(() => {
    let isCurrent = true;
    void actions.readText(path).then((outcome) => isCurrent && setRead(outcome));
    return () => {
      isCurrent = false;
    };
  }, [actions, path]);
  if (!read) return <Sentence>Reading the file</Sentence>;
  if (!read.isDone) return <Sentence>{read.error}</Sentence>;
  const { text, isCut } = read.answer;
  return (
    <>
      <CodeBlock text={text} className="max-h-[calc(100dvh-220px)]" />
      {isCut && <p className="mt-1 text-faint text-xs">The beginning of the file. Download it to see all.</p>}
    </>
  );
}

const Sentence = ({ children }: { children: string }) => (
  <p className="rounded-md border bg-sunken px-4 py-8 text-center text-soft text-sm">{children}</p>
);
