"use client";

import { FileDown } from "lucide-react";
import { useState } from "react";
import { describeAssertion, describeOutcome, REQUIREMENT_WORDS } from "#lib/page/labels/describe-plan.ts";
import { formatAddress } from "#lib/page/labels/format.ts";
import type { Requirement, RequirementEdit } from "#lib/page/state/view-types.ts";
import { EvidencePicture, isPicture } from "../runtime/evidence-picture.tsx";
import { useRuntime, useSession } from "../runtime/session-context.tsx";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { RequirementForm } from "./requirement-form.tsx";

/** Shows a requirement. People with the role `drive` can edit, waive and reopen the requirement. */
export function RequirementRow({ requirement, mayEdit }: { requirement: Requirement; mayEdit: boolean }) {
  const { id, text, status, note, author, assertion } = requirement;
  const { store, actions } = useRuntime();
  const { session } = useSession();
  /** The fields as they were when the form was opened; null while the form is closed. */
  const [edited, setEdited] = useState<Pick<Requirement, "text" | "assertion"> | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const words = REQUIREMENT_WORDS[status];

  /** @returns why the edit was not stored; null if it was stored. */
  async function edit(change: RequirementEdit): Promise<string | null> {
    setBusy(true);
    setError(null);
    const outcome = await actions.editRequirement(id, change);
    setBusy(false);
    if (!outcome.isDone) return outcome.error;
    store.mergeRequirements([outcome.answer]);
    return null;
  }
  if (edited)
    return (
      <RequirementForm
        start={edited}
        pageUrl={session.targetUrl ?? ""}
        submit="Save"
        onCancel={() => setEdited(null)}
        onSubmit={async (changed) => {
          // Only what the person has changed is sent, so that a change that was made meanwhile is not undone.
          const isSame = JSON.stringify(changed.assertion) === JSON.stringify(edited.assertion);
          const change = {
            ...(changed.text !== edited.text && { text: changed.text }),
            ...(!isSame && { assertion: changed.assertion }),
          };
          const problem = Object.keys(change).length > 0 ? await edit(change) : null;
          if (problem === null) setEdited(null);
          return problem;
        }}
      />
    );
  return (
    <article aria-label={`Requirement ${id}`} className="flex flex-col gap-1.5 text-sm">
      <p className="flex items-start gap-2">
        <Badge tone={words.tone}>{words.title}</Badge>
        <span dir="auto" className="min-w-0 flex-1 [overflow-wrap:anywhere]">
          {text}
        </span>
        <span className="shrink-0 text-faint text-xs">
          {id} · {author === "agent" ? "by the agent" : "by a person"}
        </span>
      </p>
      {assertion && <AssertionLine requirement={requirement} />}
      {note && (
        <p dir="auto" className="text-soft [overflow-wrap:anywhere]">
          {note}
        </p>
      )}
      <Evidence requirement={requirement} />
      {mayEdit && (
        <div className="flex flex-wrap gap-1">
          <Button size="sm" variant="ghost" disabled={isBusy} onClick={() => setEdited({ text, assertion })}>
            Edit<span className="sr-only"> {id}</span>
          </Button>
          <Button
            size="sm"
            variant="ghost"
            disabled={isBusy}
            onClick={() => void edit({ status: status === "open" ? "waived" : "open" }).then(setError)}
          >
            {status === "open" ? "Waive" : "Reopen"}
            <span className="sr-only"> {id}</span>
          </Button>
          {(status === "met" || status === "failed") && (
            <Button
              size="sm"
              variant="ghost"
              disabled={isBusy}
              onClick={() => void edit({ status: "waived" }).then(setError)}
            >
              Waive<span className="sr-only"> {id}</span>
            </Button>
          )}
        </div>
      )}
      {error && (
        <p role="alert" className="text-bad">
          {error}
        </p>
      )}
    </article>
  );
}

/** Shows the assertion of a requirement, and the result of the assertion in the newest check. */
function AssertionLine({ requirement }: { requirement: Requirement }) {
  const { assertion, outcome, status } = requirement;
  if (!assertion) return null;
  const words = describeOutcome(requirement);
  return (
    <div className="flex flex-col gap-1 rounded-md bg-sunken px-2 py-1.5">
      <p className="text-soft [overflow-wrap:anywhere]">
        <code className="font-mono text-ink text-xs">{assertion.selector}</code>{" "}
        {describeAssertion(assertion)} on {formatAddress(assertion.url)}
      </p>
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone={words.tone}>{words.title}</Badge>
        {status === "waived" && (
          <span className="text-faint text-xs">Checks skip it while it is waived.</span>
        )}
      </p>
      {outcome?.message && <p className="text-soft text-xs [overflow-wrap:anywhere]">{outcome.message}</p>}
    </div>
  );
}

function Evidence({ requirement: { evidence } }: { requirement: Requirement }) {
  const { session, paths } = useSession();
  if (evidence.length === 0) return null;
  return (
    <ul aria-label="Evidence" className="flex flex-wrap gap-2">
      {evidence.map((piece) => {
        const isOwn = piece.sessionId === session.id;
        const artifacts = isOwn ? paths.artifacts : `${paths.agents}/${piece.sessionId}/artifacts`;
        return (
          <li key={piece.id}>
            {isPicture(piece) ? (
              <EvidencePicture evidence={piece} artifacts={artifacts} className="block h-14 w-24" />
            ) : (
              <Button size="sm" asChild>
                <a href={`${artifacts}/${piece.id}`} download>
                  <FileDown aria-hidden /> {piece.title || piece.mediaType}
                </a>
              </Button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
