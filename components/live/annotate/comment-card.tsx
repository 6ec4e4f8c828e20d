"use client";

import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import type { Target } from "#lib/page/actions/annotation-actions.ts";
import type { Picture } from "../widgets/place-at-control.ts";

/** As much as the agent reads of a comment, in UTF-16 units. */
const COMMENT_UNITS_MAX = 4_000;
/** The size of the card, for which room is looked for. */
const WIDTH = 320;
const HEIGHT = 190;
const MARGIN = 6;

/** Asks for a comment on what a person has marked. */
export function CommentCard({
  target: { note, box },
  picture,
  isBusy,
  problem,
  submit,
  cancel,
}: {
  target: Target;
  picture: Picture;
  isBusy: boolean;
  problem: string | null;
  submit: (comment: string) => Promise<void>;
  cancel: () => void;
}) {
  const [comment, setComment] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  const text = comment.trim();
  const isReady = text !== "" && !isBusy;
  function send(event: FormEvent | KeyboardEvent): void {
    event.preventDefault();
    if (isReady) void submit(text);
  }
  function pressKey(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      // Escape would otherwise also stop the agent.
      event.preventDefault();
      event.stopPropagation();
      cancel();
    }
  }
  const title = note.quote === undefined ? note.element : `“${note.quote}”`;
  return (
    <form
      aria-label={`Comment on ${title}`}
      ref={(element) => {
        if (element) Object.assign(element.style, placeCard(box, picture));
      }}
      onSubmit={send}
      onKeyDown={pressKey}
      className="absolute z-20 flex flex-col gap-2 rounded-lg border border-line-strong bg-raised p-3 text-sm shadow-(color:--shadow-color) shadow-lg"
    >
      <p className="truncate font-medium" title={title}>
        {title}
      </p>
      <textarea
        ref={field}
        aria-label="Comment"
        placeholder="What should change here?"
        dir="auto"
        rows={3}
        maxLength={COMMENT_UNITS_MAX}
        value={comment}
        onChange={(event) => setComment(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) send(event);
        }}
        className="w-full resize-none rounded-md border border-line-strong bg-surface px-2 py-1.5 text-ink outline-none placeholder:text-faint focus-visible:ring-2 focus-visible:ring-accent"
      />
      {problem && (
        <p role="alert" className="text-bad text-xs">
          {problem}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <Button size="sm" className="max-lg:h-8" onClick={cancel}>
          Cancel
        </Button>
        {/* Never `disabled`, so that the button can have the focus. */}
        <Button
          type="submit"
          size="sm"
          variant="primary"
          className="aria-disabled:opacity-45 max-lg:h-8"
          aria-disabled={!isReady}
        >
          Add comment
        </Button>
      </div>
    </form>
  );
}

/** Places the card below what was marked, or else above it, or else over it, and always inside the room. */
function placeCard(box: Target["box"], { shown, room, page }: Picture) {
  const scale = shown.width / page.width;
  const upper = shown.top + box.y * scale;
  const lower = upper + box.height * scale;
  const width = Math.min(WIDTH, room.width - 2 * MARGIN);
  const lowest = Math.max(MARGIN, room.height - HEIGHT - MARGIN);
  const top =
    lower + MARGIN <= lowest
      ? lower + MARGIN
      : upper - HEIGHT - MARGIN >= 0
        ? upper - HEIGHT - MARGIN
        : lowest;
  const left = shown.left + box.x * scale;
  return {
    left: `${Math.max(MARGIN, Math.min(left, room.width - width - MARGIN))}px`,
    top: `${Math.max(MARGIN, top)}px`,
    width: `${width}px`,
  };
}
