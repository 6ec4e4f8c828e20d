"use client";

import { LogOut } from "lucide-react";
import { useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { logOut } from "#lib/page/actions/login-actions.ts";

/** Shows a button that signs this browser out. */
export function LogOutButton() {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  async function leave(): Promise<void> {
    setBusy(true);
    const outcome = await logOut();
    // Status 401 means that the login has already ended.
    if (outcome.isDone || outcome.status === 401) return location.assign("/");
    setBusy(false);
    setProblem(outcome.error);
  }
  return (
    <>
      {problem !== undefined && (
        <span role="alert" className="truncate text-bad text-xs">
          {problem}
        </span>
      )}
      <Button size="sm" variant="ghost" disabled={isBusy} onClick={() => void leave()}>
        <LogOut aria-hidden /> Log out
      </Button>
    </>
  );
}
