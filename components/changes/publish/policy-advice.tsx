import { listBlockingPolicies } from "#lib/page/labels/describe-publication.ts";
import { formatAddress } from "#lib/page/labels/format.ts";
import type { CheckReport } from "#lib/page/state/view-types.ts";
import { PublishPart } from "./publish-part.tsx";

/** Lists the pages whose Content-Security-Policy blocks the published script, and what each policy must allow. */
export function PolicyAdvice({ check }: { check: CheckReport }) {
  const policies = listBlockingPolicies(check);
  if (policies.length === 0) return null;
  return (
    <PublishPart title="Content-Security-Policy">
      <p className="text-soft text-sm">
        The check of revision {check.revision} found pages that block the script until their policy allows it.
      </p>
      <ul className="flex flex-col gap-2">
        {policies.map(({ message, urls }) => (
          <li
            key={message}
            className="rounded-md border bg-sunken px-3 py-2 text-sm [overflow-wrap:anywhere]"
          >
            {message}
            <ul aria-label="Pages" className="text-faint text-xs">
              {urls.map((url) => (
                <li key={url}>{formatAddress(url)}</li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </PublishPart>
  );
}
