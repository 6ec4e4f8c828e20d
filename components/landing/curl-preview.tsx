"use client";

import { CopyButton } from "#components/ui/copy-button.tsx";

/** Shows the request of the form as a curl command. */
export function CurlPreview({ command }: { command: string }) {
  return (
    <section
      aria-labelledby="curl"
      className="flex min-h-0 min-w-0 flex-col self-start rounded-lg border bg-surface max-lg:w-full lg:sticky lg:top-6"
    >
      <div className="flex h-10 shrink-0 items-center justify-between border-b pr-2 pl-4">
        <h2 id="curl" className="font-medium text-sm">
          The same over HTTP
        </h2>
        <CopyButton text={command} label="Copy the command" variant="ghost">
          Copy
        </CopyButton>
      </div>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        tabIndex={0}
        className="max-h-[420px] min-h-0 lg:max-h-[max(420px,calc(100dvh-160px))] flex-1 overflow-auto whitespace-pre-wrap p-4 font-mono text-soft text-xs leading-[18px] outline-offset-[-2px] [overflow-wrap:anywhere]"
      >
        {command}
      </pre>
      <p className="border-t px-4 py-2 text-faint text-xs">
        <code className="font-mono">$API_KEY</code> is printed where the service was started.
      </p>
    </section>
  );
}
