"use client";

import type { ReactNode } from "react";
import { formatChangeCount } from "#lib/page/labels/describe-change.ts";
import { describeCheck } from "#lib/page/labels/describe-check.ts";
import { findPublishStep } from "#lib/page/state/publish-step.ts";
import { mayDirect } from "#lib/page/state/session-state.ts";
import type { VariantRevision, VariantView } from "#lib/page/state/view-types.ts";
import { useSession } from "../../runtime/session-context.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { AcceptPart } from "../check/accept-part.tsx";
import { CheckButton } from "../check/check-button.tsx";
import { PublishUnchecked } from "./publish-unchecked.tsx";
import type { Publishing } from "./use-publishing.ts";

type Props = {
  variant: VariantView;
  /** The newest revision with its check. Undefined while it is loading, or if it could not be read. */
  revision: VariantRevision | undefined;
  /** The newest revision that this person has seen. */
  seenRevision: number;
  publishing: Publishing;
  onSeen: () => void;
  onShowCheck: () => void;
};

/** Shows the newest revision with its check, and the next step on the way to publishing it. */
export function PublishNext(props: Props) {
  const { variant } = props;
  const { tone, title } = describeCheck(variant.check);
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm">
        Revision {variant.revision}
        {variant.changeCount !== null && (
          <span className="text-soft">{formatChangeCount(variant.changeCount)}</span>
        )}
        <Badge tone={tone}>{title}</Badge>
      </p>
      {mayDirect(useSession()) ? <NextStep {...props} /> : <State variant={variant} />}
    </>
  );
}

/** Shows whether the newest revision is published, for visitors who cannot publish. */
function State({ variant: { publication, revision } }: { variant: VariantView }) {
  if (publication?.revision === revision) return <PublishedNote publication={publication} />;
  return <Note>Revision {revision} is not published.</Note>;
}

function NextStep({ variant, revision: stored, seenRevision, publishing, onSeen, onShowCheck }: Props) {
  const { key, revision, publication } = variant;
  const report = stored?.check ?? null;
  switch (findPublishStep(variant, seenRevision, report)) {
    case "outdated":
      return (
        <>
          <Note>
            Revision {revision} is newer than the one you opened. Look at its changes before you publish it.
          </Note>
          <Button className="self-start" onClick={onSeen}>
            Continue with revision {revision}
          </Button>
        </>
      );
    case "published":
      return (
        <>
          {publication && <PublishedNote publication={publication} />}
          {publication?.isUnchecked && <CheckButton variantKey={key} label={`Check revision ${revision}`} />}
        </>
      );
    case "ready":
      return (
        <>
          <Note>Pages that load the script show it to their visitors within a minute.</Note>
          <Button
            variant="primary"
            className="self-start"
            disabled={publishing.isBusy}
            onClick={() => publishing.publish(revision, false)}
          >
            Publish revision {revision}
          </Button>
        </>
      );
    case "unchecked":
      return (
        <PublishUnchecked
          variant={variant}
          publishing={publishing}
          label="Publish without a check"
          mark="unchecked"
          recommended={
            <CheckButton variantKey={key} label={`Check revision ${revision}`} size="md" variant="primary" />
          }
        >
          Revision {revision} was not checked. The check loads its pages afresh and tries each change.
        </PublishUnchecked>
      );
    case "unaccepted":
      return (
        <>
          {stored && report && <AcceptPart revision={stored} check={report} />}
          <PublishUnchecked
            variant={variant}
            publishing={publishing}
            label="Publish without acceptance"
            mark="one that was not examined completely"
            recommended={<Button onClick={onShowCheck}>Show the check</Button>}
          >
            Once this is accepted, revision {revision} can be published as a checked one.
          </PublishUnchecked>
        </>
      );
    case "failed":
      return (
        <PublishUnchecked
          variant={variant}
          publishing={publishing}
          label="Publish despite the failed check"
          mark="one whose check failed"
          recommended={
            <Button variant="primary" onClick={onShowCheck}>
              Show the findings
            </Button>
          }
        >
          The check of revision {revision} failed. Correct what it found before you publish.
        </PublishUnchecked>
      );
  }
}

function PublishedNote({ publication }: { publication: NonNullable<VariantView["publication"]> }) {
  const { revision, number, isUnchecked } = publication;
  return (
    <Note>
      Revision {revision} is published as release {number}
      {isUnchecked && ", without a check that passed"}.
    </Note>
  );
}

const Note = ({ children }: { children: ReactNode }) => <p className="text-soft text-sm">{children}</p>;
