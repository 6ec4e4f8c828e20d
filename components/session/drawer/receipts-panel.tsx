"use client";

import { useEffect, useState } from "react";
import { readReceipts } from "#lib/page/actions/read-receipts.ts";
import {
  describePointer,
  markReceipts,
  RECEIPT_WORDS,
  summarizeReceipts,
} from "#lib/page/labels/describe-receipts.ts";
import type { Receipt } from "#lib/page/state/view-types.ts";
import { useRuntime, useSession } from "../../runtime/session-context.tsx";
import { Badge } from "../../ui/badge.tsx";

/** Number of values that are listed. The API has all of them. */
const LISTED_MAX = 200;
const ORDER: readonly Receipt["status"][] = ["unseen", "elsewhere", "unchecked", "derived", "seen", "weak"];

/** Shows where the values of a result are in what the session saw. */
export function ReceiptsPanel({
  runId,
  onMarks,
}: {
  runId: string;
  /** Is called with the notes for the values in the tree. */
  onMarks: (marks: Map<string, string>) => void;
}) {
  const { fetch } = useRuntime();
  const { planning } = useSession().paths;
  const [receipts, setReceipts] = useState<readonly Receipt[]>([]);
  useEffect(() => {
    const ended = new AbortController();
    void readReceipts(fetch, planning, runId, ended.signal).then((found) => {
      if (ended.signal.aborted || !found) return;
      setReceipts(found);
      onMarks(markReceipts(found));
    });
    return () => ended.abort();
  }, [fetch, planning, runId, onMarks]);
  if (receipts.length === 0) return null;
  const sorted = receipts.toSorted((one, other) => ORDER.indexOf(one.status) - ORDER.indexOf(other.status));
  return (
    <details className="mx-4 mt-3 rounded-lg border text-sm">
      <summary className="cursor-pointer px-3 py-1.5 text-soft hover:bg-hover">
        {summarizeReceipts(receipts)}
      </summary>
      <ul className="divide-y border-t">
        {sorted.slice(0, LISTED_MAX).map((receipt) => (
          <ReceiptRow key={receipt.pointer} receipt={receipt} />
        ))}
      </ul>
      {sorted.length > LISTED_MAX && (
        <p className="border-t px-3 py-1.5 text-faint text-xs">
          The first {LISTED_MAX} of {sorted.length.toLocaleString("en")} values.
        </p>
      )}
    </details>
  );
}

function ReceiptRow({ receipt: { pointer, status, sources } }: { receipt: Receipt }) {
  const { word, tone } = RECEIPT_WORDS[status];
  const [source] = sources;
  return (
    <li className="flex flex-col gap-1 px-3 py-2">
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 break-words font-mono text-xs">
          {describePointer(pointer) || "the value"}
        </span>
        <Badge tone={tone}>{word}</Badge>
      </div>
      {source && (
        <blockquote dir="auto" className="border-l pl-3 text-soft text-xs [overflow-wrap:anywhere]">
          {source.quote} <SourceLink source={source} />
        </blockquote>
      )}
    </li>
  );
}

/** Links the page with the text, and the picture of it if there is one. */
function SourceLink({ source: { url, picture } }: { source: Receipt["sources"][number] }) {
  const { artifacts } = useSession().paths;
  // Only web pages are linked: the address comes from a page or a tool.
  const page = url !== null && /^https?:\/\//i.test(url) ? URL.parse(url) : null;
  const shown = "text-accent-strong underline";
  return (
    <>
      {page && (
        <a href={page.href} target="_blank" rel="noopener noreferrer nofollow" className={shown}>
          {page.host}
        </a>
      )}
      {picture !== undefined && (
        <>
          {" "}
          <a href={`${artifacts}/${picture}`} target="_blank" rel="noopener noreferrer" className={shown}>
            Picture
          </a>
        </>
      )}
    </>
  );
}
