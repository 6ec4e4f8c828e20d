"use client";

import { type FormEvent, useState } from "react";
import type { ShareLinkDraft } from "#lib/page/actions/session-actions.ts";
import type { ShareRole } from "#lib/page/state/view-types.ts";
import { useRuntime } from "../../runtime/session-context.tsx";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Field, Input, Select } from "../../ui/field.tsx";
import { ROLES } from "./share-link-list.tsx";

const HOUR_MS = 3_600_000;

/** The lifetimes that a person can choose for a new link. */
const LIFETIMES = [
  { name: "Never", ms: null },
  { name: "In an hour", ms: HOUR_MS },
  { name: "In a day", ms: 24 * HOUR_MS },
  { name: "In a week", ms: 7 * 24 * HOUR_MS },
  { name: "In 30 days", ms: 30 * 24 * HOUR_MS },
] as const;

/** Shows a form that creates a link, and then the URL of the link, which is not shown again. */
export function ShareLinkForm({ create }: { create: (link: ShareLinkDraft) => Promise<string | null> }) {
  const [role, setRole] = useState<ShareRole>("view");
  const [label, setLabel] = useState("");
  const [lifetime, setLifetime] = useState<string>(LIFETIMES[0].name);
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<string | null>(null);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (isCreating) return;
    setCreating(true);
    const ms = LIFETIMES.find(({ name }) => name === lifetime)?.ms ?? null;
    const path = await create({
      role,
      ...(label.trim() !== "" && { label: label.trim() }),
      ...(ms !== null && { expiresAt: new Date(Date.now() + ms).toISOString() }),
    });
    setCreating(false);
    setCreated(path);
    if (path !== null) setLabel("");
  }

  return (
    <form onSubmit={submit} aria-label="New link" className="flex flex-col gap-3 border-t pt-4">
      <h3 className="font-medium text-sm">New link</h3>
      <div className="grid gap-3 sm:grid-cols-3">
        <Field id="link-role" label="Role">
          <Select
            id="link-role"
            value={role}
            // The value of each option is a key of `ROLES`.
            onChange={(event) => setRole(event.target.value as ShareRole)}
          >
            {Object.entries(ROLES).map(([value, { does }]) => (
              <option key={value} value={value}>
                {does}
              </option>
            ))}
          </Select>
        </Field>
        <Field id="link-expiry" label="Expires">
          <Select id="link-expiry" value={lifetime} onChange={(event) => setLifetime(event.target.value)}>
            {LIFETIMES.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
        </Field>
        <Field id="link-label" label="Label">
          <Input
            id="link-label"
            value={label}
            maxLength={100}
            placeholder="Design review"
            onChange={(event) => setLabel(event.target.value)}
          />
        </Field>
      </div>
      <Button type="submit" variant="primary" className="self-start" disabled={isCreating}>
        Create link
      </Button>
      {created !== null && <LinkLine path={created} note="Copy it now: the link is not shown again." />}
    </form>
  );
}

/** Shows a link's URL with a button that copies the URL. */
export function LinkLine({ path, note }: { path: string; note: string }) {
  const { origin } = useRuntime();
  const url = new URL(path, origin).href;
  return (
    <div className="flex flex-col gap-1">
      <p className="flex h-9 items-center gap-2 rounded-md border bg-surface pr-1 pl-3">
        <span className="min-w-0 flex-1 truncate font-mono text-xs">{url}</span>
        <CopyButton text={url} variant="ghost" label="Copy the link">
          Copy
        </CopyButton>
      </p>
      <p className="text-faint text-xs">{note}</p>
    </div>
  );
}
