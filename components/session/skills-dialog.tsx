"use client";

import { GraduationCap } from "lucide-react";
import { useEffect, useState } from "react";
import { Badge } from "#components/ui/badge.tsx";
import { Dialog } from "#components/ui/dialog.tsx";
import { EmptyNote } from "#components/ui/empty-note.tsx";
import type { Skill } from "#lib/page/state/view-types.ts";
import { countOf } from "#lib/text/count-of.ts";
import { useRuntime } from "../runtime/session-context.tsx";

/** Shows the skills that the session was created with. */
export function SkillsDialog({
  isOpen,
  onOpenChange,
}: {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
}) {
  return (
    <Dialog
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      title="Skills"
      className="w-[min(560px,calc(100vw-32px))]"
    >
      {isOpen && <SkillList />}
    </Dialog>
  );
}

/** Lists the skills. Reads them once when the dialog opens, because skills never change during a session. */
function SkillList() {
  const { actions } = useRuntime();
  const [skills, setSkills] = useState<Skill[]>();
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    let isCurrent = true;
    void actions.readSkills().then((outcome) => {
      if (!isCurrent) return;
      if (outcome.isDone) setSkills(outcome.answer);
      else setError(outcome.error);
    });
    return () => {
      isCurrent = false;
    };
  }, [actions]);

  if (error) return <p className="text-bad text-sm">The skills could not be read: {error}</p>;
  if (!skills) return <p className="text-faint text-sm">Reading the skills</p>;
  if (skills.length === 0)
    return (
      <EmptyNote icon={<GraduationCap />} title="No skills">
        Sessions without a sandbox have none, and neither have sessions that are older than this feature.
      </EmptyNote>
    );
  return (
    <>
      <p className="mb-3 text-soft text-sm">
        Procedures that the agent reads when a task needs them. The session keeps the versions that it began
        with.
      </p>
      <ul className="flex flex-col divide-y divide-line">
        {skills.map((skill) => (
          <SkillItem key={skill.name} skill={skill} />
        ))}
      </ul>
    </>
  );
}

function SkillItem({ skill: { name, description, version, source, files } }: { skill: Skill }) {
  return (
    <li className="flex flex-col gap-1 py-3 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="font-medium text-sm [overflow-wrap:anywhere]">{name}</h3>
        <Badge>{source === "built_in" ? "Built in" : "This deployment"}</Badge>
      </div>
      <p dir="auto" className="text-soft text-sm [overflow-wrap:anywhere]">
        {description}
      </p>
      <p className="text-faint text-xs tabular-nums">
        Version <span className="font-mono">{version.slice(0, 12)}</span>, {countOf(files, "file")}
      </p>
    </li>
  );
}
