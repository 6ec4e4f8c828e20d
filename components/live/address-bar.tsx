"use client";

import { ArrowLeft, ArrowRight, RotateCw, TriangleAlert, X } from "lucide-react";
import { type FormEvent, type KeyboardEvent, type ReactNode, useState } from "react";
import { useRuntime, useSession } from "#components/runtime/session-context.tsx";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { readTypedAddress } from "#lib/page/actions/read-typed-address.ts";
import { mayDirect } from "#lib/page/state/session-state.ts";
import { ControlLabel } from "./control-label.tsx";

/**
 * Shows the browser's address and navigates: back, forward, reload, or to a typed address. `children` are further
 * controls of the live view.
 *
 * @param onRefused called when a visitor without control wants to stop the loading.
 */
export function AddressBar({
  hasFocus,
  takeControl,
  onRefused,
  children,
}: {
  hasFocus: boolean;
  takeControl: () => void;
  onRefused: () => void;
  children: ReactNode;
}) {
  const state = useSession();
  const { browser, stage } = state;
  const { actions, live } = useRuntime();
  const [error, setError] = useState<string | null>(null);
  const mayDrive = mayDirect(state);
  const isLoading = browser.status === "ready" && stage?.isLoading === true;
  // The view explains a failure over the picture.
  const isExplained = stage?.failure?.reason === browser.lastError;
  const problem = error ?? (browser.status === "ready" && !isExplained ? browser.lastError : null);

  /** @returns whether the service accepted the navigation. */
  async function move(step: Step): Promise<boolean> {
    setError(null);
    const outcome = await actions.moveBrowser(step);
    if (!outcome.isDone) setError(outcome.error);
    return outcome.isDone;
  }

  function stop(): void {
    if (state.control === "you") live.send({ type: "input.stop" });
    else onRefused();
  }

  return (
    <div className="relative shrink-0 border-b bg-surface">
      <div className="flex h-11 items-center gap-1 px-2">
        {BUTTONS.map(({ action, label, Icon }) =>
          action === "reload" && isLoading ? (
            <IconButton key="stop" label="Stop loading" size="icon-sm" disabled={!mayDrive} onClick={stop}>
              <X />
            </IconButton>
          ) : (
            <IconButton
              key={action}
              label={label}
              size="icon-sm"
              className={cn(action === "forward" && "max-sm:hidden")}
              disabled={!mayDrive}
              onClick={() => move({ action })}
            >
              <Icon />
            </IconButton>
          ),
        )}
        <AddressField
          mayDrive={mayDrive}
          isInvalid={error !== null}
          problemId={problem ? PROBLEM_ID : undefined}
          open={(url) => move({ url })}
          onProblem={setError}
        />
        <ControlLabel hasFocus={hasFocus} takeControl={takeControl} />
        {children}
      </div>
      {isLoading && <LoadProgress />}
      {problem && (
        <p
          id={PROBLEM_ID}
          role="alert"
          className="flex items-start gap-2 border-t bg-bad-soft px-3 py-1.5 text-bad text-sm"
        >
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          <span className="min-w-0 break-words">{problem}</span>
        </p>
      )}
      {browser.restartNotice && <RestartNotice key={browser.restartNotice} text={browser.restartNotice} />}
    </div>
  );
}

/** Shows that the page loads. How much of it is loaded is not known. */
function LoadProgress() {
  return (
    <div
      role="progressbar"
      aria-label="The page loads"
      className="absolute inset-x-0 -bottom-px z-10 h-0.5 overflow-hidden bg-accent-soft"
    >
      <div className="h-full w-1/3 animate-load bg-accent motion-reduce:w-full motion-reduce:animate-none" />
    </div>
  );
}

/** Says that the browser was started again, until the person closes the notice. */
function RestartNotice({ text }: { text: string }) {
  const [isClosed, setClosed] = useState(false);
  if (isClosed) return null;
  return (
    <div role="status" className="flex items-center gap-2 border-t px-3 py-1 text-sm text-soft">
      <span className="min-w-0 flex-1 break-words">{text}</span>
      <IconButton label="Close the notice" size="icon-sm" onClick={() => setClosed(true)}>
        <X />
      </IconButton>
    </div>
  );
}

type Step = Parameters<ReturnType<typeof useRuntime>["actions"]["moveBrowser"]>[0];

const PROBLEM_ID = "address-problem";
const BUTTONS = [
  { action: "back", label: "Back", Icon: ArrowLeft },
  { action: "forward", label: "Forward", Icon: ArrowRight },
  { action: "reload", label: "Reload", Icon: RotateCw },
] as const;

/** Shows the current address, or the text that the person is typing. */
function AddressField({
  mayDrive,
  isInvalid,
  problemId,
  open,
  onProblem,
}: {
  mayDrive: boolean;
  isInvalid: boolean;
  /** Id of the element that shows the problem. */
  problemId: string | undefined;
  /** Opens an address in the live browser. @returns whether the service accepted the address. */
  open: (url: string) => Promise<boolean>;
  onProblem: (problem: string | null) => void;
}) {
  const { browser } = useSession();
  const [draft, setDraft] = useState<string | null>(null);
  const shown = browser.currentUrl ?? browser.lastNavigatedUrl ?? browser.desiredUrl ?? "";
  const address = shown === "about:blank" ? "" : shown;
  const isLoading = browser.desiredUrl !== null && browser.status === "creating";

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const typed = readTypedAddress(draft ?? address);
    // The text and the focus stay in the field, so that the person can correct the address.
    if (!typed.isAddress) return onProblem(typed.problem);
    event.currentTarget.querySelector("input")?.blur();
    if (await open(typed.url)) setDraft(null);
  }
  function handleKey(event: KeyboardEvent<HTMLInputElement>): void {
    if (event.key !== "Escape") return;
    event.preventDefault();
    setDraft(null);
    onProblem(null);
    event.currentTarget.blur();
  }

  return (
    <form onSubmit={submit} className="min-w-0 flex-1">
      <input
        aria-label="Address"
        value={draft ?? address}
        placeholder="Open an address"
        readOnly={!mayDrive}
        inputMode="url"
        autoCapitalize="off"
        autoCorrect="off"
        spellCheck={false}
        aria-busy={isLoading}
        aria-invalid={isInvalid}
        aria-describedby={problemId}
        onChange={(event) => {
          setDraft(event.target.value);
          onProblem(null);
        }}
        onFocus={(event) => event.target.select()}
        onBlur={() => setDraft((typed) => (typed === address || typed === "" ? null : typed))}
        onKeyDown={handleKey}
        className="h-7 w-full truncate rounded-md bg-sunken px-3 text-ink text-sm outline-none placeholder:text-faint focus-visible:ring-2 focus-visible:ring-accent"
      />
    </form>
  );
}
