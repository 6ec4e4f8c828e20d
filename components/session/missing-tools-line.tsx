import { Unplug } from "lucide-react";
import { describeMissingTools } from "#lib/api/client/describe-missing-tools.ts";
import type { MissingToolsView } from "#lib/api/client/types.ts";

/** In the conversation: tools of a tool server that the turn goes on without. */
export function MissingToolsLine({ missing }: { missing: MissingToolsView }) {
  return (
    <p className="flex items-start gap-2 text-faint text-sm">
      <Unplug aria-hidden className="mt-0.5 size-4 shrink-0" />
      <span className="min-w-0 break-words">{describeMissingTools(missing)}</span>
    </p>
  );
}
