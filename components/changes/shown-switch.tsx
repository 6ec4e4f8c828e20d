"use client";

import { useId, useState } from "react";
import { mayDirect } from "#lib/page/state/session-state.ts";
import type { VariantView } from "#lib/page/state/view-types.ts";
import { useRuntime, useSession } from "../runtime/session-context.tsx";
import { Badge } from "../ui/badge.tsx";
import { Switch } from "../ui/switch.tsx";

/**
 * Shows a switch that turns a variant on and off in the live browser. Viewers see only whether the variant is on.
 * Renders nothing in a session without a browser.
 */
export function ShownSwitch({ variant }: { variant: VariantView }) {
  const { actions, store } = useRuntime();
  const state = useSession();
  const id = useId();
  const [wanted, setWanted] = useState<boolean | null>(null);
  const [error, setError] = useState<string | null>(null);
  if (!state.session.hasBrowser) return null;
  if (!mayDirect(state)) return variant.isShown ? <Badge tone="busy">In the live browser</Badge> : null;

  async function show(isShown: boolean): Promise<void> {
    if (wanted !== null) return;
    setWanted(isShown);
    setError(null);
    const outcome = await actions.showVariant(isShown ? variant.key : null);
    setWanted(null);
    if (outcome.isDone) store.setShownVariant(outcome.answer.variant);
    else setError(`The live browser was not changed: ${outcome.error}`);
  }
  return (
    <span className="flex flex-wrap items-center justify-end gap-x-2">
      {error && (
        <span role="alert" className="text-bad text-xs">
          {error}
        </span>
      )}
      <label htmlFor={id} className="flex h-6 items-center gap-2 text-sm text-soft">
        Show in the live browser
        <Switch id={id} checked={wanted ?? variant.isShown} onCheckedChange={show} />
      </label>
    </span>
  );
}
