"use client";

import { FlaskConical } from "lucide-react";
import { useId } from "react";
import { useSession } from "../runtime/session-context.tsx";

/** Shows the name of the model. For the demo model, also explains how to configure a real model. */
export function ModelBadge() {
  const { model } = useSession();
  const id = useId();
  if (!model.isDemo) return <span className="truncate text-faint text-xs max-lg:hidden">{model.label}</span>;
  return (
    <>
      <button
        type="button"
        popoverTarget={id}
        className="inline-flex h-6 shrink-0 items-center gap-1 rounded-full bg-warn-soft px-2 font-medium text-2xs text-warn"
      >
        <FlaskConical aria-hidden className="size-3" />
        Demo model
      </button>
      <div
        id={id}
        popover="auto"
        className="fixed inset-auto top-11 right-2 m-0 w-80 max-w-[calc(100vw-16px)] rounded-lg border border-line bg-raised p-4 text-ink text-sm shadow-(color:--shadow-color) shadow-xl"
      >
        <DemoModelNote />
      </div>
    </>
  );
}

/** Explains the demo model, and how to configure a real model. */
function DemoModelNote() {
  return (
    <>
      <p className="font-medium">This is the built-in demo model.</p>
      <p className="mt-1 text-soft">
        A small rule-based planner: it really uses the browser and the tools, but it does not understand
        language the way a language model does.
      </p>
      <p className="mt-2 text-soft">
        For a real model, start the service with{" "}
        <code className="rounded-sm bg-sunken px-1 font-mono text-xs">OPENAI_API_KEY</code> set.
      </p>
    </>
  );
}
