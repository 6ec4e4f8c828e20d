import { cva, type VariantProps } from "class-variance-authority";
import { Slot } from "radix-ui";
import type { ComponentProps } from "react";
import { cn } from "./cn.ts";

const styles = cva(
  "inline-flex shrink-0 items-center justify-center gap-2 rounded-md font-medium whitespace-nowrap transition-colors duration-100 disabled:pointer-events-none disabled:opacity-45 [&_svg]:size-4 [&_svg]:shrink-0",
  {
    variants: {
      variant: {
        primary: "bg-accent text-accent-ink hover:bg-accent-strong",
        outline: "border border-line-strong bg-surface text-ink hover:bg-hover",
        ghost: "text-soft hover:bg-hover hover:text-ink",
      },
      size: {
        md: "h-8 px-3 text-sm",
        sm: "h-6 px-2 text-xs [&_svg]:size-3.5",
        lg: "h-10 px-4 text-base",
        icon: "size-8",
        "icon-sm": "size-6 [&_svg]:size-3.5",
      },
    },
    defaultVariants: { variant: "outline", size: "md" },
  },
);

export type ButtonProps = ComponentProps<"button"> & VariantProps<typeof styles> & { asChild?: boolean };

/** Shows a button. With `asChild`, shows the child element in the style of a button instead. */
export function Button({
  className,
  variant,
  size,
  asChild = false,
  type = "button",
  ...props
}: ButtonProps) {
  const looks = cn(styles({ variant, size }), className);
  return asChild ? (
    <Slot.Root className={looks} {...props} />
  ) : (
    <button type={type} className={looks} {...props} />
  );
}
