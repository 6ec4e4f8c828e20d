"use client";

import { type ReactNode, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { endLogin } from "#lib/page/actions/login-actions.ts";

/** Shows the login of another browser, with a button that ends it. */
export function EndableLogin({
  id,
  browser,
  children,
}: {
  id: string;
  browser: string;
  children: ReactNode;
}) {
  const [isEnded, setEnded] = useState(false);
  const [problem, setProblem] = useState<string>();
  async function end(): Promise<void> {
    const outcome = await endLogin(id);
    // Status 404 means that the login is over and its row was deleted, for example after a new sign-in with its key.
    if (outcome.isDone || outcome.status === 404) setEnded(true);
    else setProblem(outcome.error);
  }
  if (isEnded) return null;
  return (
    <li className="flex min-h-10 flex-wrap items-center gap-x-3 px-4 py-1.5 text-sm">
      {children}
      <Button size="sm" aria-label={`End the login of ${browser}`} onClick={() => void end()}>
        End
      </Button>
      {problem !== undefined && (
        <p role="alert" className="basis-full text-bad text-sm">
          {problem}
        </p>
      )}
    </li>
  );
}
