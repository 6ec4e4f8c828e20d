"use client";

import { LoaderCircle, PencilLine, ShieldQuestion, TriangleAlert } from "lucide-react";
import { type ReactNode, useState } from "react";
import { describeCheck } from "#lib/page/labels/describe-check.ts";
import type { VariantRevision, VariantView } from "#lib/page/state/view-types.ts";
import { useDrawer } from "../runtime/drawer-context.tsx";
import { useSession } from "../runtime/session-context.tsx";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyNote } from "../ui/empty-note.tsx";
import { Segments } from "../ui/segments.tsx";
import { Age } from "../ui/time.tsx";
import { CheckButton } from "./check/check-button.tsx";
import { CheckView } from "./check/check-view.tsx";
import { CompareView } from "./compare/compare-view.tsx";
import { ChangeList } from "./list/change-list.tsx";
import { useEditVariant, type VariantEditing } from "./list/use-edit-variant.ts";
import { ExportMenu } from "./publish/export-menu.tsx";
import { PublishButton } from "./publish/publish-button.tsx";
import { ShownSwitch } from "./shown-switch.tsx";
import { useRevision } from "./use-revision.ts";
import { VariantPicker } from "./variant-picker.tsx";

const VIEWS = [
  ["changes", "Changes"],
  ["compare", "Compare"],
  ["check", "Check"],
] as const;

type View = (typeof VIEWS)[number][0];

/** Shows one variant of the session: its changes, its before and after pictures, or its check report. */
export function ChangesTab() {
  const { variants } = useSession();
  const { variantKey, open } = useDrawer();
  const [view, setView] = useState<View>("changes");
  const variant = variants.find(({ key }) => key === variantKey) ?? variants[0];
  if (variant === undefined) {
    return (
      <EmptyNote icon={<PencilLine />} title="No changes yet">
        The agent’s changes of the page appear here as a variant.
      </EmptyNote>
    );
  }
  return (
    <Variant variant={variant} view={view} onView={setView}>
      {variants.length > 1 && (
        <VariantPicker
          variants={variants}
          chosen={variant}
          onChoose={(key) => open("changes", { variantKey: key })}
        />
      )}
    </Variant>
  );
}

/** Shows one variant. `children` is the variant picker, which is in the same row as the other controls. */
function Variant({
  variant,
  view,
  onView,
  children,
}: {
  variant: VariantView;
  view: View;
  onView: (view: View) => void;
  children: ReactNode;
}) {
  const { revision, error, retry } = useRevision(variant);
  const editing = useEditVariant(variant.key, revision?.revision);
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b px-4 py-2">
        {children}
        <Segments label="View" choices={VIEWS} chosen={view} onChoose={onView} />
        <RevisionFacts variant={variant} revision={revision} />
        <span className="flex flex-wrap items-center gap-x-3 gap-y-2 sm:ml-auto">
          <span key={variant.key} className="flex flex-wrap items-center gap-2">
            <PublishButton variant={variant} revision={revision} onShowCheck={() => onView("check")} />
            <ExportMenu variant={variant} revision={revision} />
          </span>
          <ShownSwitch variant={variant} />
        </span>
      </div>
      {error && (
        <p role="alert" className="flex flex-wrap items-center gap-2 px-4 pt-3 text-bad text-sm">
          <TriangleAlert aria-hidden className="size-4 shrink-0" />
          Revision {variant.revision} could not be read: {error}
          <Button size="sm" onClick={retry}>
            Try again
          </Button>
        </p>
      )}
      {revision && <RevisionView key={variant.key} view={view} revision={revision} editing={editing} />}
      {!revision && !error && (
        <EmptyNote icon={<LoaderCircle className="animate-spin" />} title="Reading the changes" />
      )}
    </>
  );
}

/** Shows the number, author, age and check of a revision. */
function RevisionFacts({
  variant,
  revision,
}: {
  variant: VariantView;
  revision: VariantRevision | undefined;
}) {
  const { tone, title } = describeCheck(revision ? revision.check : variant.check);
  return (
    <p className="flex min-h-6 flex-wrap items-center gap-x-2 text-soft text-sm">
      Revision {revision?.revision ?? variant.revision}
      {revision && (
        <span className="text-faint text-xs">
          by {revision.author === "agent" ? "the agent" : "a person"}, <Age iso={revision.createdAt} />
        </span>
      )}
      <Badge tone={tone}>{title}</Badge>
    </p>
  );
}

function RevisionView({
  view,
  revision,
  editing,
}: {
  view: View;
  revision: VariantRevision;
  editing: VariantEditing;
}) {
  const { check } = revision;
  if (view === "changes") return <ChangeList revision={revision} editing={editing} />;
  if (check === null) {
    return (
      <EmptyNote
        icon={<ShieldQuestion />}
        title={`Revision ${revision.revision} was not checked`}
        action={<CheckButton variantKey={revision.variant} label="Check now" />}
      >
        The check loads the pages afresh and takes pictures before and after.
      </EmptyNote>
    );
  }
  return view === "compare" ? <CompareView check={check} /> : <CheckView revision={revision} check={check} />;
}
