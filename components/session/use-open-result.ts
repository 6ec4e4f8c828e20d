"use client";

import { useEffect, useRef } from "react";
import { useSession } from "../runtime/session-context.tsx";

/**
 * Opens the result when the result of a turn becomes ready, because it is what a structured session is for.
 *
 * @param mayOpen false if the person has closed the drawer, or looks at something else in it.
 */
export function useOpenResult(mayOpen: boolean, open: () => void): void {
  const { deliverables } = useSession();
  const readyId = deliverables.findLast(({ status }) => status === "ready")?.runId;
  const latest = useRef({ readyId, mayOpen, open });
  useEffect(() => {
    const isNew = readyId !== latest.current.readyId;
    latest.current = { readyId, mayOpen, open };
    if (isNew && mayOpen) open();
  });
}
