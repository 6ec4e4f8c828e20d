"use client";

import { MessagePage } from "#components/message-page.tsx";
import { Button } from "#components/ui/button.tsx";

/** Shows that rendering a page failed. The session itself is stored and not affected. */
export default function ErrorPage({
  error,
  reset,
}: {
  error: Error & { digest?: string };
  reset: () => void;
}) {
  return (
    <MessagePage
      title="The page could not be shown"
      action={
        <Button variant="primary" onClick={reset}>
          Try again
        </Button>
      }
    >
      Nothing is lost: sessions continue without their page.
      {error.digest && (
        <span className="mt-2 block text-faint text-sm">
          The service’s log has the cause under <span className="font-mono">{error.digest}</span>.
        </span>
      )}
    </MessagePage>
  );
}
