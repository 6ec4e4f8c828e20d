import { describeChange } from "#lib/page/labels/describe-change.ts";
import type { VariantChange } from "#lib/page/state/view-types.ts";
import { cn } from "../../ui/cn.ts";
import { LongText } from "./long-text.tsx";

const SELECTOR_CHARACTERS_MAX = 160;

/**
 * Shows a change as a sentence: `Text of #pay → “Pay now”`. Omits a value that is HTML or CSS, because `ChangeCode`
 * shows it.
 */
export function ChangeSentence({
  change,
  isOn,
  hasValue,
}: {
  change: VariantChange;
  isOn: boolean;
  /** Whether the new value is shown; false while a person edits it. */
  hasValue: boolean;
}) {
  const { verb, place, target, value } = describeChange(change);
  return (
    <p
      className={cn(
        "min-w-0 flex-1 basis-64 text-sm leading-6 [overflow-wrap:anywhere]",
        !isOn && "text-faint",
      )}
    >
      {verb} <Selector text={change.selector} />
      {place && ` ${place} `}
      {target && <Selector text={target} />}
      {value && !value.isCode && hasValue && (
        <>
          {" → “"}
          <LongText text={value.text} isCode={false} />”
        </>
      )}
    </p>
  );
}

/** Shows the HTML or CSS that a change sets, as plain text. */
export function ChangeCode({ change }: { change: VariantChange }) {
  const { value } = describeChange(change);
  if (!value?.isCode) return null;
  return (
    <p className="rounded-md border bg-sunken px-2 py-1 text-soft leading-[18px]">
      <LongText text={value.text} isCode />
    </p>
  );
}

const Selector = ({ text }: { text: string }) => (
  <span className="rounded-sm bg-sunken px-1 py-px text-ink">
    <LongText text={text} isCode charactersMax={SELECTOR_CHARACTERS_MAX} />
  </span>
);
