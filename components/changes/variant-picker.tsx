import { describeCheck } from "#lib/page/labels/describe-check.ts";
import type { VariantView } from "#lib/page/state/view-types.ts";
import { cn } from "../ui/cn.ts";
import { StatusDot } from "../ui/status-dot.tsx";

/** Lets the person choose one of the variants of a session. */
export function VariantPicker({
  variants,
  chosen,
  onChoose,
}: {
  variants: VariantView[];
  chosen: VariantView;
  onChoose: (key: string) => void;
}) {
  return (
    <fieldset className="flex flex-wrap gap-1">
      <legend className="sr-only">Variant</legend>
      {variants.map((variant) => {
        const { tone, title } = describeCheck(variant.check);
        const isChosen = variant.key === chosen.key;
        return (
          <button
            key={variant.key}
            type="button"
            aria-pressed={isChosen}
            title={title}
            onClick={() => onChoose(variant.key)}
            className={cn(
              "flex h-6 items-center gap-1.5 rounded-full border px-2 font-mono text-xs",
              isChosen ? "border-accent bg-accent-soft text-accent-strong" : "text-soft hover:bg-hover",
            )}
          >
            <StatusDot tone={tone} className="size-1.5" />
            {variant.key}
            <span className="sr-only">, {title}</span>
          </button>
        );
      })}
    </fieldset>
  );
}
