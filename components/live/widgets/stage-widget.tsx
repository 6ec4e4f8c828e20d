"use client";

import type { RefObject } from "react";
import { useSession } from "#components/runtime/session-context.tsx";
import { lazily } from "#components/ui/lazily.tsx";
import type { Picture } from "./place-at-control.ts";

const OwnWidget = lazily(async () => (await import("./own-widget.tsx")).OwnWidget);

/**
 * Shows the control of the live page that the picture does not show: a dialog, the list of a select, a picker, suggestions
 * or a request for files. The person who has control answers it. Other viewers see only that a page asks.
 *
 * @param picture where the picture is within the room around it, and the size of the page in CSS pixels.
 */
export function StageWidget({
  picture,
  surface,
}: {
  picture: Picture;
  surface: RefObject<HTMLTextAreaElement | null>;
}) {
  const { stage, control } = useSession();
  const widget = stage?.widget;
  if (!widget) return null;
  if (control === "you")
    return <OwnWidget key={widget.id} widget={widget} picture={picture} surface={surface} />;
  if (widget.kind !== "dialog" && widget.kind !== "files") return null;
  return (
    <p
      role="status"
      className="absolute top-3 rounded-lg border bg-raised px-3 py-2 text-sm shadow-(color:--shadow-color) shadow-lg"
    >
      {widget.kind === "files" ? "The page asks for files." : "The page asks a question."} The person who has
      control answers.
    </p>
  );
}
