import type { LeftOut } from "#lib/page/state/view-types.ts";

/** Lists what an import left out, each part with the reason. */
export function LeftOutList({ leftOut }: { leftOut: LeftOut[] }) {
  if (leftOut.length === 0) return null;
  return (
    <details className="text-sm">
      <summary className="cursor-pointer rounded-sm text-soft">Not imported ({leftOut.length})</summary>
      <ul
        aria-label="Not imported"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        tabIndex={0}
        className="mt-2 max-h-60 divide-y overflow-auto rounded-md border"
      >
        {leftOut.map(({ field, reason }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list of an answer never moves, and two entries may be equal
          <li key={index} className="px-3 py-2 [overflow-wrap:anywhere]">
            <p className="font-mono text-xs">{field}</p>
            <p>{reason}</p>
          </li>
        ))}
      </ul>
    </details>
  );
}
