import { Badge } from "#components/ui/badge.tsx";
import { Age } from "#components/ui/time.tsx";
import { describeBrowser } from "#lib/page/labels/describe-browser.ts";
import type { Login } from "#lib/page/state/view-types.ts";
import { EndableLogin } from "./endable-login.tsx";

/** Lists the browsers that are signed in. Every browser except the visitor's own has a button that ends its login. */
export function LoginList({ logins }: { logins: Login[] }) {
  return (
    <section aria-labelledby="logins" className="flex flex-col gap-2">
      <h2 id="logins" className="font-semibold text-base">
        Signed-in browsers
      </h2>
      <ul className="divide-y overflow-hidden rounded-lg border bg-surface">
        {logins.map((login) => {
          const browser = describeBrowser(login.userAgent);
          const entry = (
            <>
              <span className="min-w-0 flex-1 truncate">
                <span className="font-medium">{browser}</span>{" "}
                <span className="text-faint">{describeCredential(login)}</span>
              </span>
              <span className="text-faint text-xs">
                <Age iso={login.lastSeenAt} />
              </span>
            </>
          );
          return login.isCurrent ? (
            <li key={login.id} className="flex min-h-10 items-center gap-3 px-4 py-1.5 text-sm">
              {entry}
              <Badge>This browser</Badge>
            </li>
          ) : (
            <EndableLogin key={login.id} id={login.id} browser={browser}>
              {entry}
            </EndableLogin>
          );
        })}
      </ul>
    </section>
  );
}

function describeCredential({ method, account }: Login): string {
  if (method === "key") return `API key of ${account}`;
  return account ?? "login link";
}
