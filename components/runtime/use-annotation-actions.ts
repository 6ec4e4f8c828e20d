import { useMemo } from "react";
import { type AnnotationActions, createAnnotationActions } from "#lib/page/actions/annotation-actions.ts";
import { useRuntime, useSession } from "./session-context.tsx";

/** Returns the actions for the annotations of the session. */
export function useAnnotationActions(): AnnotationActions {
  const { fetch } = useRuntime();
  const { planning, actions } = useSession().paths;
  return useMemo(() => createAnnotationActions({ planning, actions }, fetch), [planning, actions, fetch]);
}
