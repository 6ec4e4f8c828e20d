import type { ReactNode } from "react";
import { nameChange } from "#lib/page/labels/describe-change.ts";
import { formatAddress } from "#lib/page/labels/format.ts";
import type { OmittedChange, VariantRevision } from "#lib/page/state/view-types.ts";

/**
 * Lists the changes that a format cannot express, each with the reason. `children` is the introduction above the list.
 */
export function OmittedList({
  omitted,
  revision,
  children,
}: {
  omitted: OmittedChange[];
  /** The revision that contains the omitted changes. Without it, the list names each change by its id. */
  revision?: VariantRevision | undefined;
  children: ReactNode;
}) {
  const changes = revision?.document.pages.flatMap((page) => page.changes) ?? [];
  return (
    <div className="flex flex-col gap-2 text-sm">
      <p className="text-soft [overflow-wrap:anywhere]">{children}</p>
      <ul aria-label="Changes left out" className="max-h-80 divide-y overflow-auto rounded-md border">
        {omitted.map(({ changeId, url, reason }, index) => {
          const change = changes.find(({ id }) => id === changeId);
          const name = change ? nameChange(change) : changeId;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list of an answer never moves, and two entries may be equal
            <li key={index} className="px-3 py-2 [overflow-wrap:anywhere]">
              {name && <p className="font-mono text-xs">{name}</p>}
              <p>{reason}</p>
              {url && <p className="text-faint text-xs">{formatAddress(url)}</p>}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
