"use client";

import { Maximize2 } from "lucide-react";
import { useState } from "react";
import { VIEWPORT_NAMES } from "#lib/page/labels/describe-check.ts";
import { formatAddress } from "#lib/page/labels/format.ts";
import type { CheckedPage, CheckReport } from "#lib/page/state/view-types.ts";
import { Button } from "../../ui/button.tsx";
import { cn } from "../../ui/cn.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Select } from "../../ui/field.tsx";
import { Segments } from "../../ui/segments.tsx";
import { CheckPicture } from "./check-picture.tsx";
import { PictureSlider } from "./picture-slider.tsx";

const VIEWS = [
  ["slider", "Before and after"],
  ["difference", "Difference"],
] as const;

/**
 * What the person chose to see. `url` and `viewport` are null until the person chooses them. If the page is null or
 * missing in the check, the first page of the check is shown. If the width is null or missing for the page, the first
 * width of the page is shown.
 */
type Choice = {
  view: (typeof VIEWS)[number][0];
  url: string | null;
  viewport: CheckedPage["viewport"] | null;
};

/** The classes that limit a picture to the width that the page had in the check. */
const WIDTHS: Record<CheckedPage["viewport"], string> = {
  desktop: "max-w-[1280px]",
  tablet: "mx-auto max-w-[820px]",
  phone: "mx-auto max-w-[390px]",
};

/** Shows the pictures of one page at one width: before and after with a divider, or the difference. */
export function CompareView({ check }: { check: CheckReport }) {
  const [choice, setChoice] = useState<Choice>({ view: "slider", url: null, viewport: null });
  const [isOpen, setOpen] = useState(false);
  const page = findPage(check, choice);
  if (page === undefined) return <p className="p-4 text-faint text-sm">The check opened no page.</p>;
  return (
    <div className="flex flex-col gap-3 px-4 py-3">
      <div className="flex flex-wrap items-center gap-2">
        <Choices check={check} page={page} choice={choice} onChoose={setChoice} />
        <Button size="sm" variant="ghost" onClick={() => setOpen(true)}>
          <Maximize2 aria-hidden /> Enlarge
        </Button>
      </div>
      <Pictures page={page} view={choice.view} />
      <Dialog
        isOpen={isOpen}
        onOpenChange={setOpen}
        title={choice.view === "slider" ? "Before and after" : "Difference"}
        className="w-[min(1320px,calc(100vw-32px))]"
      >
        <div className="flex flex-wrap items-center gap-2 pb-3">
          <Choices check={check} page={page} choice={choice} onChoose={setChoice} />
        </div>
        <Pictures page={page} view={choice.view} />
      </Dialog>
    </div>
  );
}

function findPage({ pages }: CheckReport, { url, viewport }: Choice): CheckedPage | undefined {
  const ofUrl = pages.filter((page) => page.url === url);
  const candidates = ofUrl.length > 0 ? ofUrl : pages.filter((page) => page.url === pages[0]?.url);
  return candidates.find((page) => page.viewport === viewport) ?? candidates[0];
}

/** Shows the controls that choose the view, the width and the page. */
function Choices({
  check,
  page,
  choice,
  onChoose,
}: {
  check: CheckReport;
  page: CheckedPage;
  choice: Choice;
  onChoose: (choice: Choice) => void;
}) {
  const urls = [...new Set(check.pages.map(({ url }) => url))];
  const viewports = check.pages.filter(({ url }) => url === page.url).map(({ viewport }) => viewport);
  return (
    <>
      <Segments
        label="View"
        choices={VIEWS}
        chosen={choice.view}
        onChoose={(view) => onChoose({ ...choice, view })}
      />
      {viewports.length > 1 && (
        <Segments
          label="Width"
          choices={viewports.map((viewport) => [viewport, VIEWPORT_NAMES[viewport]] as const)}
          chosen={page.viewport}
          onChoose={(viewport) => onChoose({ ...choice, viewport })}
        />
      )}
      {urls.length > 1 ? (
        <Select
          aria-label="Page"
          className="h-7 w-auto min-w-0 max-w-full flex-1 basis-48"
          value={page.url}
          onChange={(event) => onChoose({ ...choice, url: event.target.value })}
        >
          {urls.map((url) => (
            <option key={url} value={url}>
              {formatAddress(url)}
            </option>
          ))}
        </Select>
      ) : (
        <span className="min-w-0 flex-1 basis-32 truncate text-faint text-xs">{formatAddress(page.url)}</span>
      )}
    </>
  );
}

function Pictures({ page, view }: { page: CheckedPage; view: Choice["view"] }) {
  return (
    <div className={cn("w-full", WIDTHS[page.viewport])}>
      {view === "slider" ? (
        <PictureSlider key={`${page.url} ${page.viewport}`} page={page} />
      ) : (
        <div className="overflow-hidden rounded-md border">
          <CheckPicture evidence={page.pictures.difference} viewport={page.viewport} alt="Difference" />
        </div>
      )}
    </div>
  );
}
