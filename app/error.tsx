"use client";

const BUTTON = "inline-flex h-8 items-center justify-center rounded-md px-3 font-medium text-sm";

/**
 * Shows that rendering a page failed. The session itself is stored and not affected. The file uses no component: every
 * page loads this file first, in a script of its own, which would repeat the code of each component.
 */
export default function ErrorPage({
  error,
  reset,
}: {
  error: Error & { digest?: string };
  reset: () => void;
}) {
  return (
    <main className="flex min-h-dvh items-center justify-center p-6">
      <div className="flex max-w-96 flex-col items-start gap-2">
        <h1 className="font-semibold text-lg">The page could not be shown</h1>
        <p className="text-soft">
          Nothing is lost: sessions continue without their page.
          {error.digest && (
            <span className="mt-2 block text-faint text-sm">
              The service’s log has the cause under <span className="font-mono">{error.digest}</span>.
            </span>
          )}
        </p>
        <div className="mt-4 flex flex-wrap gap-2">
          <button
            type="button"
            onClick={reset}
            className={`${BUTTON} bg-accent text-accent-ink hover:bg-accent-strong`}
          >
            Try again
          </button>
          <a href="/" className={`${BUTTON} border border-line-strong bg-surface hover:bg-hover`}>
            Go to the start page
          </a>
        </div>
      </div>
    </main>
  );
}
