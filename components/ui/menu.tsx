"use client";

import { Check } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import type { ComponentProps, ReactNode } from "react";
import { cn } from "./cn.ts";

const row =
  "flex h-8 cursor-default select-none items-center gap-2 rounded-md px-2 text-sm outline-none data-[disabled]:opacity-50 data-[highlighted]:bg-hover [&_svg]:size-4 [&_svg]:text-faint";

/** Shows a menu below a button. */
export function Menu({
  trigger,
  isOpenAtFirst = false,
  children,
}: {
  trigger: ReactNode;
  /** For a menu that is loaded when a person opens it. */
  isOpenAtFirst?: boolean;
  children: ReactNode;
}) {
  return (
    <Radix.Root modal={false} defaultOpen={isOpenAtFirst}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      {/* Rendered without a portal, so that the menu stays in the same landmark as its button. */}
      <Radix.Content
        align="end"
        sideOffset={4}
        collisionPadding={8}
        className="z-50 min-w-52 rounded-lg border border-line bg-raised p-1 shadow-(color:--shadow-color) shadow-xl"
      >
        {children}
      </Radix.Content>
    </Radix.Root>
  );
}

/** Shows a menu entry. */
export function MenuItem({ className, ...props }: ComponentProps<typeof Radix.Item>) {
  return <Radix.Item className={cn(row, className)} {...props} />;
}

/** Shows a group of choices. The current choice has a check mark. */
export function MenuChoices<Value extends string>({
  label,
  value,
  choices,
  isDisabled = false,
  onChange,
}: {
  label: string;
  /** The current choice; null if it is none of them. */
  value: Value | null;
  choices: readonly { value: Value; label: string; icon: ReactNode }[];
  isDisabled?: boolean;
  onChange: (value: Value) => void;
}) {
  return (
    <Radix.RadioGroup value={value ?? ""} onValueChange={(chosen) => onChange(chosen as Value)}>
      <Radix.Label className="px-2 pt-2 pb-1 text-faint text-xs">{label}</Radix.Label>
      {choices.map((choice) => (
        <Radix.RadioItem
          key={choice.value}
          value={choice.value}
          disabled={isDisabled}
          onSelect={(event) => event.preventDefault()}
          className={row}
        >
          {choice.icon}
          <span className="flex-1">{choice.label}</span>
          <Radix.ItemIndicator>
            <Check className="text-accent!" />
          </Radix.ItemIndicator>
        </Radix.RadioItem>
      ))}
    </Radix.RadioGroup>
  );
}

/** Shows a separator between two groups. */
export function MenuLine() {
  return <Radix.Separator className="my-1 h-px bg-line" />;
}
