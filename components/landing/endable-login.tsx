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
    setProblem(outcome.isDone ? undefined : outcome.error);
    setEnded(outcome.isDone);
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
