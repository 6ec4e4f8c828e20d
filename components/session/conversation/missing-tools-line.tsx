import { Unplug } from "lucide-react";
import type { MissingToolsView } from "#lib/page/state/view-types.ts";
import { describeMissingTools } from "#lib/page/words/describe-missing-tools.ts";

/** In the conversation: tools of a tool server that the turn goes on without. */
export function MissingToolsLine({ missing }: { missing: MissingToolsView }) {
  return (
    <p className="flex items-start gap-2 text-faint text-sm">
      <Unplug aria-hidden className="mt-0.5 size-4 shrink-0" />
      <span className="min-w-0 break-words">{describeMissingTools(missing)}</span>
    </p>
  );
}
