"use client";

import { useState } from "react";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { useNow } from "#components/ui/use-now.ts";
import { type FreshKey, revokeKey, rotateKey } from "#lib/page/actions/key-actions.ts";
import { describeKey } from "#lib/page/labels/describe-key.ts";
import type { ApiKey } from "#lib/page/state/view-types.ts";

type Asking = "rotate" | "revoke";

const QUESTIONS: Record<Asking, { text: string; confirm: string }> = {
  rotate: {
    text: "A new key with the same owner, name and scopes is created. The old key stays valid for 24 hours.",
    confirm: "Create the new key",
  },
  revoke: {
    text: "The key stops working at once, for programs and for browsers that signed in with it. You cannot undo this.",
    confirm: "Revoke the key",
  },
};

/** Shows one API key with its state, and buttons that rotate or revoke it after a confirmation. */
export function KeyRow({
  apiKey,
  onFresh,
  onChanged,
}: {
  apiKey: ApiKey;
  onFresh: (fresh: FreshKey) => void;
  onChanged: () => void;
}) {
  const [asking, setAsking] = useState<Asking>();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const now = useNow(60_000);
  const { isLive, text } = describeKey(apiKey, now ?? Date.now());
  async function confirm(kind: Asking): Promise<void> {
    setBusy(true);
    const error = kind === "rotate" ? await rotate() : await revoke();
    setBusy(false);
    setProblem(error);
    if (error === undefined) setAsking(undefined);
  }
  async function rotate(): Promise<string | undefined> {
    const outcome = await rotateKey(apiKey.id);
    if (!outcome.isDone) return outcome.error;
    onFresh(outcome.answer);
  }
  async function revoke(): Promise<string | undefined> {
    const outcome = await revokeKey(apiKey.id);
    if (!outcome.isDone) return outcome.error;
    onChanged();
  }
  return (
    <li className="flex flex-col gap-2 px-4 py-2 text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="min-w-0 flex-1 basis-40 [overflow-wrap:anywhere]">
          <span dir="auto" className="font-medium">
            {apiKey.name}
          </span>{" "}
          <span className="text-faint">{apiKey.ownerId}</span>
        </span>
        {apiKey.scopes.map((scope) => (
          <Badge key={scope}>{scope}</Badge>
        ))}
        <span className="text-faint text-xs">{text}</span>
        {isLive && (
          <span className="flex gap-1">
            <Button size="sm" aria-label={`Rotate ${apiKey.name}`} onClick={() => setAsking("rotate")}>
              Rotate
            </Button>
            <Button size="sm" aria-label={`Revoke ${apiKey.name}`} onClick={() => setAsking("revoke")}>
              Revoke
            </Button>
          </span>
        )}
      </div>
      {asking && isLive && (
        <div className="flex flex-col gap-2">
          <p className="text-soft">{QUESTIONS[asking].text}</p>
          <div className="flex flex-wrap gap-2">
            <Button size="sm" disabled={isBusy} onClick={() => void confirm(asking)}>
              {QUESTIONS[asking].confirm}
            </Button>
            <Button size="sm" variant="ghost" onClick={() => setAsking(undefined)}>
              Cancel
            </Button>
          </div>
        </div>
      )}
      {problem !== undefined && (
        <p role="alert" className="text-bad">
          {problem}
        </p>
      )}
    </li>
  );
}
