"use client";

import { ChevronsLeftRight } from "lucide-react";
import { useState } from "react";
import type { CheckedPage } from "#lib/page/state/view-types.ts";
import { CheckPicture } from "./check-picture.tsx";

const MIDDLE_PERCENT = 50;

/**
 * Shows two pictures on top of each other: the page before and after the changes. Mouse, touch and keyboard move the
 * divider between them.
 */
export function PictureSlider({ page: { pictures, viewport } }: { page: CheckedPage }) {
  const [beforePercent, setBeforePercent] = useState(MIDDLE_PERCENT);
  return (
    <div>
      <p aria-hidden className="flex justify-between pb-1 font-medium text-soft text-xs">
        <span>Before</span>
        <span>After</span>
      </p>
      <div className="relative grid select-none overflow-hidden rounded-md border bg-sunken has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:outline-offset-2">
        <CheckPicture
          evidence={pictures.after}
          viewport={viewport}
          alt="After"
          className="col-start-1 row-start-1"
        />
        <div
          className="col-start-1 row-start-1 bg-sunken"
          ref={(element) => element?.style.setProperty("clip-path", `inset(0 ${100 - beforePercent}% 0 0)`)}
        >
          <CheckPicture evidence={pictures.before} viewport={viewport} alt="Before" />
        </div>
        <Divider percent={beforePercent} />
        <input
          type="range"
          min={0}
          max={100}
          value={beforePercent}
          onChange={(event) => setBeforePercent(Number(event.target.value))}
          aria-label="Divider between before and after"
          aria-valuetext={`${beforePercent} % before, ${100 - beforePercent} % after`}
          className="absolute inset-0 size-full cursor-ew-resize touch-pan-y opacity-0"
        />
      </div>
    </div>
  );
}

const Divider = ({ percent }: { percent: number }) => (
  <span
    aria-hidden
    ref={(element) => element?.style.setProperty("left", `${percent}%`)}
    className="pointer-events-none absolute inset-y-0 w-0.5 -translate-x-1/2 bg-accent"
  >
    <span className="absolute top-1/2 left-1/2 flex size-7 -translate-1/2 items-center justify-center rounded-full bg-accent text-accent-ink">
      <ChevronsLeftRight className="size-4" />
    </span>
  </span>
);
