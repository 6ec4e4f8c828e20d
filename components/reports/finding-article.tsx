import { FileDown } from "lucide-react";
import { SEVERITY_WORDS } from "#lib/page/labels/describe-report.ts";
import type { EvidencePointer, ReportFinding } from "#lib/page/state/view-types.ts";
import { isPicture, StoredPicture } from "../runtime/evidence-picture.tsx";
import { Badge } from "../ui/badge.tsx";
import { ReportText } from "./report-text.tsx";

/**
 * Shows a finding of a report. Its texts are untrusted, because they come from the agent and from the pages that the
 * agent visited.
 */
export function FindingArticle({
  number,
  finding,
  artifacts,
}: {
  number: number;
  finding: ReportFinding;
  /** Path below which the evidence of the session is served. */
  artifacts: string;
}) {
  const { severity, title, detail, url, selector, steps, evidence } = finding;
  const { tone, name } = SEVERITY_WORDS[severity];
  const pictures = evidence.filter(isPicture);
  const files = evidence.filter((piece) => !isPicture(piece));
  return (
    <article
      id={`finding-${number}`}
      aria-labelledby={`finding-${number}-title`}
      className="flex flex-col gap-3 rounded-lg border bg-surface p-4"
    >
      <div className="flex flex-col items-start gap-1 break-after-avoid">
        <Badge tone={tone}>{name}</Badge>
        <h3
          id={`finding-${number}-title`}
          dir="auto"
          className="font-semibold text-base [overflow-wrap:anywhere]"
        >
          {number}. {title}
        </h3>
      </div>
      {(url !== null || selector !== null) && (
        <dl className="grid grid-cols-[64px_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm [&>dt]:text-faint">
          {url !== null && (
            <>
              <dt>Page</dt>
              <dd>
                <code className="font-mono text-xs [overflow-wrap:anywhere]">{url}</code>
              </dd>
            </>
          )}
          {selector !== null && (
            <>
              <dt>Element</dt>
              <dd>
                <code className="font-mono text-xs [overflow-wrap:anywhere]">{selector}</code>
              </dd>
            </>
          )}
        </dl>
      )}
      {detail.trim() !== "" && <ReportText text={detail} />}
      {steps.length > 0 && (
        <div>
          <h4 className="text-faint text-sm">Steps</h4>
          <ol className="list-decimal pl-5 text-sm">
            {steps.map((step, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a stored report never move
              <li key={index} dir="auto" className="whitespace-pre-wrap [overflow-wrap:anywhere]">
                {step}
              </li>
            ))}
          </ol>
        </div>
      )}
      {pictures.length > 0 && (
        <ul
          aria-label="Pictures"
          className="grid grid-cols-[repeat(auto-fill,minmax(min(240px,100%),1fr))] gap-3"
        >
          {pictures.map((picture) => (
            <li key={picture.id} className="min-w-0 break-inside-avoid">
              <StoredPicture
                source={`${artifacts}/${picture.id}`}
                evidence={picture}
                className="block aspect-[16/10] w-full"
              />
              <p className="mt-1 text-faint text-xs [overflow-wrap:anywhere]">{picture.title}</p>
            </li>
          ))}
        </ul>
      )}
      {files.map((file) => (
        <EvidenceFile key={file.id} file={file} path={`${artifacts}/${file.id}`} />
      ))}
    </article>
  );
}

const EvidenceFile = ({ file, path }: { file: EvidencePointer; path: string }) => (
  <a
    href={path}
    download
    className="inline-flex min-h-7 max-w-full items-center gap-2 self-start rounded-md border px-2 text-soft text-xs hover:bg-hover hover:text-ink"
  >
    <FileDown aria-hidden className="size-3.5 shrink-0 text-faint" />
    <span className="sr-only">Download: </span>
    <span className="truncate">{file.title}</span>
  </a>
);
