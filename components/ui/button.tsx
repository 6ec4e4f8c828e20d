import { type ComponentProps, cloneElement, isValidElement } from "react";
import { cn } from "./cn.ts";

const BASE =
  "inline-flex shrink-0 items-center justify-center gap-2 rounded-md font-medium whitespace-nowrap transition-colors duration-100 disabled:pointer-events-none disabled:opacity-45 [&_svg]:size-4 [&_svg]:shrink-0";
const VARIANTS = {
  primary: "bg-accent text-accent-ink hover:bg-accent-strong",
  outline: "border border-line-strong bg-surface text-ink hover:bg-hover",
  ghost: "text-soft hover:bg-hover hover:text-ink",
};
const SIZES = {
  md: "h-8 px-3 text-sm",
  sm: "h-6 px-2 text-xs [&_svg]:size-3.5",
  lg: "h-10 px-4 text-base",
  icon: "size-8",
  "icon-sm": "size-6 [&_svg]:size-3.5",
};

export type ButtonProps = ComponentProps<"button"> & {
  variant?: keyof typeof VARIANTS | undefined;
  size?: keyof typeof SIZES | undefined;
  asChild?: boolean;
};

/** Shows a button. With `asChild`, shows the child element in the style of a button instead. */
export function Button({
  className,
  variant = "outline",
  size = "md",
  asChild = false,
  type = "button",
  ...props
}: ButtonProps) {
  const looks = cn(BASE, VARIANTS[variant], SIZES[size], className);
  if (!asChild) return <button type={type} className={looks} {...props} />;
  const { children, ...others } = props;
  if (!isValidElement<{ className?: string }>(children)) throw new Error("asChild needs one element");
  return cloneElement(children, { ...others, className: cn(looks, children.props.className) });
}
