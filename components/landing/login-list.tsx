"use client";

import { useState } from "react";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { Age } from "#components/ui/time.tsx";
import { endLogin } from "#lib/page/actions/login-actions.ts";
import { describeBrowser } from "#lib/page/labels/describe-browser.ts";
import type { Login } from "#lib/page/state/view-types.ts";

/** Lists the browsers that are signed in. Every browser except the visitor's own has a button that ends its login. */
export function LoginList({ logins }: { logins: Login[] }) {
  const [endedIds, setEndedIds] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState<string>();
  async function end(id: string): Promise<void> {
    const outcome = await endLogin(id);
    setProblem(outcome.isDone ? undefined : outcome.error);
    if (outcome.isDone) setEndedIds((ids) => [...ids, id]);
  }
  return (
    <section aria-labelledby="logins" className="flex flex-col gap-2">
      <h2 id="logins" className="font-semibold text-base">
        Signed-in browsers
      </h2>
      {problem !== undefined && (
        <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-bad text-sm">
          {problem}
        </p>
      )}
      <ul className="divide-y overflow-hidden rounded-lg border bg-surface">
        {logins
          .filter(({ id }) => !endedIds.includes(id))
          .map((login) => (
            <li key={login.id} className="flex min-h-10 items-center gap-3 px-4 py-1.5 text-sm">
              <span className="min-w-0 flex-1 truncate">
                <span className="font-medium">{describeBrowser(login.userAgent)}</span>{" "}
                <span className="text-faint">{login.account ?? "login link"}</span>
              </span>
              <span className="text-faint text-xs">
                <Age iso={login.lastSeenAt} />
              </span>
              {login.isCurrent ? (
                <Badge>This browser</Badge>
              ) : (
                <Button
                  size="sm"
                  aria-label={`End the login of ${describeBrowser(login.userAgent)}`}
                  onClick={() => void end(login.id)}
                >
                  End
                </Button>
              )}
            </li>
          ))}
      </ul>
    </section>
  );
}
