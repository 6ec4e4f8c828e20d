"use client";

import { ArrowLeft, ArrowRight, RotateCw, TriangleAlert } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useRuntime, useSession } from "#components/session/session-context.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { readTypedAddress } from "#lib/page/calls/read-typed-address.ts";
import { ControlLabel } from "./control-label.tsx";

/** Shows the browser's address and opens another one. */
export function AddressBar({ hasFocus, takeControl }: { hasFocus: boolean; takeControl: () => void }) {
  const { browser, role } = useSession();
  const { actions } = useRuntime();
  const [draft, setDraft] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const mayDrive = role === "drive";
  const shown = browser.currentUrl ?? browser.lastNavigatedUrl ?? browser.desiredUrl ?? "";
  const address = shown === "about:blank" ? "" : shown;
  const isOnItsWay = browser.desiredUrl !== null && browser.status === "creating";

  async function move(step: Parameters<typeof actions.moveBrowser>[0]): Promise<boolean> {
    setError(null);
    const outcome = await actions.moveBrowser(step);
    if (!outcome.isDone) setError(outcome.error);
    return outcome.isDone;
  }
  async function go(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const typed = readTypedAddress(draft ?? address);
    // The text and the focus stay in the field, so that the address can be corrected.
    if (!typed.isAddress) return setError(typed.problem);
    event.currentTarget.querySelector("input")?.blur();
    if (await move({ url: typed.url })) setDraft(null);
  }

  const refused = error ?? (browser.status === "ready" ? browser.lastError : null);
  return (
    <div data-live-controls className="shrink-0 border-b bg-surface">
      <div className="flex h-11 items-center gap-1 px-2">
        <IconButton label="Back" size="icon-sm" disabled={!mayDrive} onClick={() => move({ action: "back" })}>
          <ArrowLeft />
        </IconButton>
        <IconButton
          label="Forward"
          size="icon-sm"
          disabled={!mayDrive}
          onClick={() => move({ action: "forward" })}
        >
          <ArrowRight />
        </IconButton>
        <IconButton
          label="Reload"
          size="icon-sm"
          disabled={!mayDrive}
          onClick={() => move({ action: "reload" })}
        >
          <RotateCw />
        </IconButton>
        <form onSubmit={go} className="min-w-0 flex-1">
          <input
            aria-label="Address"
            value={draft ?? address}
            placeholder="Open an address"
            readOnly={!mayDrive}
            inputMode="url"
            autoCapitalize="off"
            autoCorrect="off"
            spellCheck={false}
            aria-busy={isOnItsWay}
            aria-invalid={error !== null}
            aria-describedby={refused ? "address-problem" : undefined}
            onChange={(event) => {
              setDraft(event.target.value);
              setError(null);
            }}
            onFocus={(event) => event.target.select()}
            onBlur={() => setDraft((typed) => (typed === address || typed === "" ? null : typed))}
            onKeyDown={(event) => {
              if (event.key !== "Escape") return;
              event.preventDefault();
              setDraft(null);
              setError(null);
              event.currentTarget.blur();
            }}
            className="h-7 w-full truncate rounded-md bg-sunken px-3 text-ink text-sm outline-none placeholder:text-faint focus-visible:ring-2 focus-visible:ring-accent"
          />
        </form>
        <ControlLabel hasFocus={hasFocus} takeControl={takeControl} />
      </div>
      {refused && (
        <p
          id="address-problem"
          role="alert"
          className="flex items-start gap-2 border-t bg-bad-soft px-3 py-1.5 text-bad text-sm"
        >
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          <span className="min-w-0 break-words">{refused}</span>
        </p>
      )}
    </div>
  );
}
