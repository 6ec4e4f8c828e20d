import { KeyRound } from "lucide-react";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import type { SignInProblem } from "#lib/page/labels/sign-in-problems.ts";
import { KeySignIn } from "./key-sign-in.tsx";

const COMMAND = "npm run login";

/** Tells visitors who are not signed in how to sign in, and why the last attempt failed. */
export function SignInNote({
  problem,
  oidcPath,
}: {
  problem: SignInProblem | undefined;
  oidcPath: string | null;
}) {
  const { title, text } = explainSignIn(problem, oidcPath !== null);
  return (
    <section className="mx-auto mt-[12dvh] flex max-w-[480px] flex-col items-start gap-2">
      <KeyRound aria-hidden className="mb-2 size-5 text-faint" />
      <h1 className="font-semibold text-lg">{title}</h1>
      {oidcPath !== null && (
        <Button asChild variant="primary" className="my-1">
          <a href={oidcPath}>Sign in with your account</a>
        </Button>
      )}
      <p className="text-soft">{text}</p>
      <p className="flex h-9 w-full items-center justify-between rounded-md border bg-surface pr-1 pl-3">
        <code className="font-mono text-sm">{COMMAND}</code>
        <CopyButton text={COMMAND} label="Copy the command" />
      </p>
      <KeySignIn />
      <p className="text-faint text-sm">Links to single sessions work without a login.</p>
    </section>
  );
}

function explainSignIn(
  problem: SignInProblem | undefined,
  hasAccounts: boolean,
): { title: string; text: string } {
  switch (problem) {
    case "expired":
      return {
        title: "This login link no longer works",
        text: "A login link works once: it was used before, it has expired, or the service was restarted. Get a new link where the service runs, with this command:",
      };
    case "failed":
      return {
        title: "The sign-in did not work",
        text: "It was not confirmed, or took too long. Try again, or get a login link where the service runs, with this command:",
      };
    case "refused":
      return {
        title: "This account may not sign in here",
        text: "Ask the operator of the service to allow it, or get a login link where the service runs, with this command:",
      };
    default:
      return hasAccounts
        ? {
            title: "Sign in",
            text: "A login link signs this browser in, too. The service prints one when it starts, and this command prints another where the service runs:",
          }
        : {
            title: "Open a login link",
            text: "Starting sessions here needs a login link; it signs this browser in. The service prints one when it starts, and this command prints another where the service runs:",
          };
  }
}
