import { KeyRound } from "lucide-react";
import { CopyButton } from "#components/ui/copy-button.tsx";

const COMMAND = "npm run login";

/** For visitors who are not signed in: how to get a login link. */
export function SignInNote({ isLinkExpired }: { isLinkExpired: boolean }) {
  return (
    <section className="mx-auto mt-[12dvh] flex max-w-[480px] flex-col items-start gap-2">
      <KeyRound aria-hidden className="mb-2 size-5 text-faint" />
      <h1 className="font-semibold text-lg">
        {isLinkExpired ? "This login link no longer works" : "Open a login link"}
      </h1>
      <p className="text-soft">
        {isLinkExpired
          ? "A login link works once: it was used before, it has expired, or the service was restarted. Get a new link where the service runs, with this command:"
          : "Starting sessions here needs a login link; it signs this browser in. The service prints one when it starts, and this command prints another where the service runs:"}
      </p>
      <p className="flex h-9 w-full items-center justify-between rounded-md border bg-surface pr-1 pl-3">
        <code className="font-mono text-sm">{COMMAND}</code>
        <CopyButton text={COMMAND} label="Copy the command" />
      </p>
      <p className="text-faint text-sm">
        Programs use an API key instead, and links to single sessions work without a login.
      </p>
    </section>
  );
}
