"use client";

import { ExternalLink } from "lucide-react";
import { useId } from "react";
import { changesDemoShop } from "#lib/page/labels/describe-publication.ts";
import { writePinnedTag, writeScriptTag } from "#lib/page/labels/script-tags.ts";
import type { Publication, VariantRevision } from "#lib/page/state/view-types.ts";
import { useRuntime } from "../../runtime/session-context.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";

/**
 * Shows the two script tags that load a published variant. The first follows new releases; the second loads one fixed
 * release.
 */
export function ScriptTags({
  publication,
  revision,
}: {
  publication: Publication;
  revision: VariantRevision | undefined;
}) {
  const { origin } = useRuntime();
  const { number, scriptUrl } = publication;
  const isDemo = revision !== undefined && changesDemoShop(revision, [origin, new URL(scriptUrl).origin]);
  return (
    <>
      <p className="text-soft text-sm">
        Put one of these tags in the head of the pages. With the first, they follow what is published here;
        with the second, they change only when you change the tag.
      </p>
      <Tag
        title="Current release"
        note="Follows new releases and rollbacks within a minute."
        text={writeScriptTag(publication)}
      />
      <Tag
        title={`Release ${number} only`}
        note="Never changes. The browser refuses a script with another hash."
        text={writePinnedTag(publication)}
      />
      {isDemo && (
        <a
          href="/demo?visitor"
          target="_blank"
          rel="noopener"
          className="inline-flex items-center gap-1 self-start rounded-sm text-accent-strong text-sm hover:underline"
        >
          See it as a visitor <ExternalLink aria-hidden className="size-3.5" />
          <span className="sr-only">(opens in a new tab)</span>
        </a>
      )}
    </>
  );
}

function Tag({ title, note, text }: { title: string; note: string; text: string }) {
  const id = useId();
  return (
    <fieldset aria-labelledby={id} className="flex min-w-0 flex-col gap-1">
      <div className="flex items-center gap-2">
        <p className="min-w-0 flex-1 text-sm">
          <span id={id}>{title}</span> <span className="text-faint text-xs max-sm:block">{note}</span>
        </p>
        <CopyButton text={text} variant="ghost">
          Copy
        </CopyButton>
      </div>
      <CodeBlock text={text} />
    </fieldset>
  );
}
