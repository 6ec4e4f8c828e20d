"use client";

import { ListChecks, Plus } from "lucide-react";
import { useDrawer } from "../runtime/drawer-context.tsx";
import { useRuntime, useSession } from "../runtime/session-context.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyNote } from "../ui/empty-note.tsx";
import { RequirementForm } from "./requirement-form.tsx";
import { RequirementRow } from "./requirement-row.tsx";

/**
 * Lists the requirements of the session, each with its status, evidence and assertion. People with the role `drive` can
 * edit them.
 */
export function RequirementsTab() {
  const { requirements, role } = useSession();
  const mayEdit = role === "drive";
  return (
    <div className="flex flex-col">
      {requirements.length === 0 ? (
        <EmptyNote icon={<ListChecks />} title="No requirements yet">
          What the result has to fulfil appears here. A requirement with an assertion is tested by each check
          of a variant.
        </EmptyNote>
      ) : (
        <ul aria-label="Requirements" className="flex flex-col divide-y">
          {requirements.map((requirement) => (
            <li key={requirement.id} className="px-4 py-3">
              <RequirementRow requirement={requirement} mayEdit={mayEdit} />
            </li>
          ))}
        </ul>
      )}
      {mayEdit && <AddRequirement />}
    </div>
  );
}

function AddRequirement() {
  const { store, actions } = useRuntime();
  const { session } = useSession();
  const { isAddingRequirement, open } = useDrawer();
  const setOpen = (isAdding: boolean) => open("requirements", { isAddingRequirement: isAdding });
  if (!isAddingRequirement)
    return (
      <div className="border-t px-4 py-3">
        <Button onClick={() => setOpen(true)}>
          <Plus aria-hidden /> Add a requirement
        </Button>
      </div>
    );
  return (
    <div className="border-t px-4 py-3">
      <RequirementForm
        start={{ text: "", assertion: null }}
        pageUrl={session.targetUrl ?? ""}
        submit="Add"
        onCancel={() => setOpen(false)}
        onSubmit={async ({ text, assertion }) => {
          const outcome = await actions.addRequirement(text, assertion ?? undefined);
          if (!outcome.isDone) return outcome.error;
          store.mergeRequirements(outcome.answer);
          setOpen(false);
          return null;
        }}
      />
    </div>
  );
}
