"use client";

import { useDrawer } from "#components/runtime/drawer-context.tsx";
import { useSession } from "#components/runtime/session-context.tsx";
import { cn } from "#components/ui/cn.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import type { Picture } from "../widgets/place-at-control.ts";
import { type FoundPin, useFoundPins } from "./use-found-pins.ts";

const SIZE = 22;
const STATES = { open: "open", sent: "sent to the agent", resolved: "resolved", lost: "open" } as const;

/**
 * Shows a numbered pin at each annotated element that is on the page. A pin opens its annotation in the list. The person
 * who has control sees none, because they use the page below, unless the list is open or they annotate.
 */
export function AnnotationPins({ picture, isAnnotating }: { picture: Picture; isAnnotating: boolean }) {
  const { annotations, control } = useSession();
  const { tab, annotationId, open } = useDrawer();
  const isShown = control !== "you" || isAnnotating || tab === "annotations";
  const pins = useFoundPins(isShown);
  if (!isShown) return null;
  return (
    <ul aria-label="Annotations on the page" className="contents">
      {pins.map((pin, index) => {
        const at = annotations.findIndex(({ id }) => id === pin.id);
        const annotation = annotations[at];
        const place = placeOf(pin, picture);
        if (!annotation || annotation.status === "resolved" || !place) return null;
        const comment = annotation.annotations?.[0]?.comment ?? annotation.output ?? "";
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: an annotation can have several elements, always in this order
          <li key={`${pin.id} ${index}`} className="contents">
            <button
              type="button"
              ref={(element) => {
                if (element) Object.assign(element.style, place);
              }}
              aria-label={`Annotation ${at + 1}, ${STATES[annotation.status]}: ${beginningOf(comment, 100)}`}
              title={beginningOf(comment, 200)}
              onClick={() => open("annotations", { annotationId: pin.id })}
              className={cn(
                "absolute flex h-5.5 min-w-5.5 items-center justify-center rounded-full border-2 border-white px-1 font-semibold text-xs tabular-nums shadow-(color:--shadow-color) shadow-sm",
                annotation.status === "sent" ? "bg-raised text-ink" : "bg-accent text-accent-ink",
                annotationId === pin.id && "ring-2 ring-accent ring-offset-1",
                isAnnotating && "pointer-events-none",
              )}
            >
              {at + 1}
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** Places a pin at the upper left corner of its element. Undefined if that is not on the picture. */
function placeOf({ box }: FoundPin, { shown, page }: Picture): { left: string; top: string } | undefined {
  const right = box.x + box.width;
  const bottom = box.y + box.height;
  if (right <= 0 || bottom <= 0 || box.x >= page.width || box.y >= page.height) return undefined;
  const scale = shown.width / page.width;
  const within = (value: number, size: number) => Math.max(0, Math.min(value, size - SIZE));
  return {
    left: `${shown.left + within(box.x * scale - SIZE / 2, shown.width)}px`,
    top: `${shown.top + within(box.y * scale - SIZE / 2, shown.height)}px`,
  };
}
