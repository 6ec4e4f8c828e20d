"use client";

import { ChevronDown, Download } from "lucide-react";
import { useState } from "react";
import { mayDirect } from "#lib/page/state/session-state.ts";
import type {
  ExportFormat,
  OmittedChange,
  Publication,
  VariantRevision,
  VariantView,
} from "#lib/page/state/view-types.ts";
import { useRuntime, useSession } from "../../runtime/session-context.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { download } from "../../ui/download.ts";
import { Menu, MenuItem, MenuLine } from "../../ui/menu.tsx";
import { ImportForm } from "./import-form.tsx";
import { OmittedList } from "./omitted-list.tsx";
import { ScriptTags } from "./script-tags.tsx";

const FORMATS = [
  ["json", "JSON"],
  ["growthbook", "GrowthBook"],
  ["posthog", "PostHog"],
] as const;

/** What the dialog of the menu shows. */
type Shown =
  | { kind: "tag"; publication: Publication }
  | { kind: "omitted"; fileName: string; omitted: OmittedChange[] }
  | { kind: "import" };

const TITLES: Record<Shown["kind"], string> = {
  tag: "Script tag",
  omitted: "Changes left out",
  import: "Import changes",
};

/**
 * Shows a menu that exports the newest revision as a file. If the newest revision is published, the menu has an entry
 * that shows the script tag. Visitors with the role `drive` can import a file.
 */
export function ExportMenu({
  variant,
  revision,
}: {
  variant: VariantView;
  revision: VariantRevision | undefined;
}) {
  const isDriver = mayDirect(useSession());
  const [shown, setShown] = useState<Shown | null>(null);
  const { isExporting, error, save } = useExport(variant, (fileName, omitted) => {
    if (omitted.length > 0) setShown({ kind: "omitted", fileName, omitted });
  });
  const { publication } = variant;
  return (
    <>
      <Menu
        trigger={
          <Button size="sm" aria-busy={isExporting}>
            <Download aria-hidden /> {isExporting ? "Exporting" : "Export"} <ChevronDown aria-hidden />
          </Button>
        }
      >
        <MenuItem onSelect={() => save("script")}>Standalone script</MenuItem>
        {publication?.revision === variant.revision && (
          <MenuItem onSelect={() => setShown({ kind: "tag", publication })}>Script tag</MenuItem>
        )}
        {FORMATS.map(([format, name]) => (
          <MenuItem key={format} onSelect={() => save(format)}>
            {name}
          </MenuItem>
        ))}
        {isDriver && (
          <>
            <MenuLine />
            <MenuItem onSelect={() => setShown({ kind: "import" })}>Import</MenuItem>
          </>
        )}
      </Menu>
      {error && (
        <span role="alert" className="text-bad text-xs">
          {error}
        </span>
      )}
      <Dialog
        isOpen={shown !== null}
        onOpenChange={(isOpen) => !isOpen && setShown(null)}
        title={shown ? TITLES[shown.kind] : ""}
        className="w-[min(560px,calc(100vw-32px))]"
      >
        {shown?.kind === "tag" && (
          <div className="flex flex-col gap-2">
            <ScriptTags publication={shown.publication} revision={revision} />
          </div>
        )}
        {shown?.kind === "omitted" && (
          <OmittedList omitted={shown.omitted} revision={revision}>
            {shown.fileName} was saved without these changes, because its format cannot carry them.
          </OmittedList>
        )}
        {shown?.kind === "import" && <ImportForm variant={variant} />}
      </Dialog>
    </>
  );
}

/** Returns a function that exports the newest revision and lets the browser save the file. */
function useExport(
  { key, revision }: VariantView,
  onSaved: (fileName: string, omitted: OmittedChange[]) => void,
) {
  const { actions } = useRuntime();
  const [isExporting, setExporting] = useState(false);
  const [error, setError] = useState<string | null>(null);
  return {
    isExporting,
    error,
    async save(format: ExportFormat): Promise<void> {
      if (isExporting) return;
      setExporting(true);
      setError(null);
      const outcome = await actions.exportRevision(key, revision, format);
      setExporting(false);
      if (!outcome.isDone) return setError(`Revision ${revision} was not exported: ${outcome.error}`);
      const { name, text, mediaType, omitted } = outcome.answer;
      download(name, text, mediaType);
      onSaved(name, omitted);
    },
  };
}
