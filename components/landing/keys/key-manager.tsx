"use client";

import { useCallback, useEffect, useRef, useState } from "react";
import { type FreshKey, listKeys } from "#lib/page/actions/key-actions.ts";
import type { ApiKey } from "#lib/page/state/view-types.ts";
import { FreshKeyNote } from "./fresh-key-note.tsx";
import { KeyForm } from "./key-form.tsx";
import { KeyRow } from "./key-row.tsx";

/** Shows the API keys, with actions that create, rotate and revoke them. */
export function KeyManager() {
  const [keys, setKeys] = useState<ApiKey[]>();
  const [problem, setProblem] = useState<string>();
  const [fresh, setFresh] = useState<FreshKey>();
  const panel = useRef<HTMLDivElement>(null);
  const read = useCallback(async () => {
    const outcome = await listKeys();
    setProblem(outcome.isDone ? undefined : outcome.error);
    if (outcome.isDone) setKeys(outcome.answer);
  }, []);
  useEffect(() => {
    panel.current?.focus();
    void read();
  }, [read]);
  function show(created: FreshKey): void {
    setFresh(created);
    void read();
  }
  return (
    <div ref={panel} tabIndex={-1} className="flex w-full flex-col gap-4 outline-none">
      <KeyForm onCreated={show} />
      {fresh && <FreshKeyNote key={fresh.record.id} fresh={fresh} onClose={() => setFresh(undefined)} />}
      {problem !== undefined && (
        <p role="alert" className="rounded-lg bg-bad-soft px-3 py-2 text-bad text-sm">
          {problem}
        </p>
      )}
      {keys === undefined ? (
        problem === undefined && <p className="text-faint text-sm">Loading the keys</p>
      ) : (
        <KeyList keys={keys} onFresh={show} onChanged={() => void read()} />
      )}
    </div>
  );
}

function KeyList({
  keys,
  onFresh,
  onChanged,
}: {
  keys: ApiKey[];
  onFresh: (fresh: FreshKey) => void;
  onChanged: () => void;
}) {
  if (keys.length === 0)
    return (
      <p className="rounded-lg border border-line-strong border-dashed px-4 py-6 text-center text-faint text-sm">
        There are no keys in the database. A key from the settings is not listed here.
      </p>
    );
  return (
    <ul aria-label="API keys" className="divide-y overflow-hidden rounded-lg border bg-surface">
      {keys.map((key) => (
        <KeyRow key={key.id} apiKey={key} onFresh={onFresh} onChanged={onChanged} />
      ))}
    </ul>
  );
}
