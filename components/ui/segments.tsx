import { cn } from "./cn.ts";

/** Lets the person choose one of a few views. */
export function Segments<Choice extends string>({
  label,
  choices,
  chosen,
  onChoose,
}: {
  label: string;
  choices: readonly (readonly [Choice, string])[];
  chosen: Choice;
  onChoose: (choice: Choice) => void;
}) {
  return (
    <fieldset className="flex gap-0.5 rounded-md bg-sunken p-0.5">
      <legend className="sr-only">{label}</legend>
      {choices.map(([choice, name]) => (
        <button
          key={choice}
          type="button"
          aria-pressed={choice === chosen}
          onClick={() => onChoose(choice)}
          className={cn(
            "h-6 rounded-sm px-2 font-medium text-xs outline-offset-[-2px] max-lg:h-8 max-lg:px-3",
            choice === chosen
              ? "bg-raised text-ink shadow-(color:--shadow-color) shadow-sm"
              : "text-soft hover:text-ink",
          )}
        >
          {name}
        </button>
      ))}
    </fieldset>
  );
}
