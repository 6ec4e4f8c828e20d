"use client";

import { useRef } from "react";
import { LiveStage } from "../live/live-stage.tsx";

/** Shows the live browser. @param isShown whether it is visible; pictures are sent only then. */
export function LivePane({ isShown = true }: { isShown?: boolean }) {
  const surface = useRef<HTMLTextAreaElement>(null);
  return <LiveStage surface={surface} isShown={isShown} />;
}
