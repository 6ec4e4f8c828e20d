"use client";

import { LoaderCircle, ShieldCheck } from "lucide-react";
import { useState } from "react";
import { mayDirect } from "#lib/page/state/session-state.ts";
import { useRuntime, useSession } from "../../runtime/session-context.tsx";
import { Button, type ButtonProps } from "../../ui/button.tsx";

/**
 * Shows a button that checks the newest revision of a variant. Renders nothing for viewers, and nothing in a session
 * without a browser.
 */
export function CheckButton({
  variantKey,
  label,
  ...looks
}: { variantKey: string; label: string } & Pick<ButtonProps, "size" | "variant">) {
  const { actions, store } = useRuntime();
  const state = useSession();
  const [isChecking, setIsChecking] = useState(false);
  const [error, setError] = useState<string | null>(null);
  if (!mayDirect(state) || !state.session.hasBrowser) return null;

  async function check(): Promise<void> {
    setIsChecking(true);
    setError(null);
    const outcome = await actions.checkVariant(variantKey);
    setIsChecking(false);
    if (outcome.isDone) store.mergeVariants([outcome.answer]);
    else setError(`The check did not run: ${outcome.error}`);
  }
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <Button size="sm" {...looks} disabled={isChecking} onClick={check}>
        {isChecking ? (
          <LoaderCircle aria-hidden className="size-4 animate-spin" />
        ) : (
          <ShieldCheck aria-hidden className="size-4" />
        )}
        {isChecking ? "Checking, up to a minute" : label}
      </Button>
      {error && (
        <span role="alert" className="text-bad text-xs">
          {error}
        </span>
      )}
    </span>
  );
}
