"use client";

import { LogIn } from "lucide-react";
import { useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { logIn } from "#lib/page/actions/login-actions.ts";

/** Shows a button that signs this browser in with the token of a login link. */
export function LogInButton({ token }: { token: string }) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  async function enter(): Promise<void> {
    setBusy(true);
    const outcome = await logIn(token);
    // `replace` also removes the address with the token from the browser's history.
    if (outcome.isDone) return location.replace("/");
    // Status 401 means that the link was used before or has expired. The landing page explains what to do.
    if (outcome.status === 401) return location.replace("/?login=expired");
    setBusy(false);
    setProblem(outcome.error);
  }
  return (
    <>
      {problem !== undefined && (
        <p role="alert" className="basis-full text-bad text-sm">
          {problem}
        </p>
      )}
      <Button variant="primary" disabled={isBusy} onClick={() => void enter()}>
        <LogIn aria-hidden /> Sign in
      </Button>
    </>
  );
}
