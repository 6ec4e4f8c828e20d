import type { ComponentProps, ReactNode } from "react";
import { cn } from "./cn.ts";

const looks =
  "w-full rounded-md border border-line-strong bg-surface px-3 text-ink placeholder:text-faint outline-none focus-visible:border-accent focus-visible:ring-2 focus-visible:ring-accent/25 aria-invalid:border-bad aria-invalid:ring-bad/20 disabled:opacity-50";

/** Shows a single-line text input. */
export function Input({ className, ...props }: ComponentProps<"input">) {
  return <input className={cn(looks, "h-8 text-sm", className)} {...props} />;
}

/** Shows a drop-down list. */
export function Select({ className, ...props }: ComponentProps<"select">) {
  return <select className={cn(looks, "h-8 text-sm", className)} {...props} />;
}

/** Shows a multi-line text input. The input grows with its text if the browser supports that. */
export function Textarea({ className, ...props }: ComponentProps<"textarea">) {
  return (
    <textarea
      className={cn(looks, "field-sizing-content resize-none py-2 text-base", className)}
      {...props}
    />
  );
}

/** Shows a labelled control with a hint or an error. */
export function Field({
  id,
  label,
  action,
  hint,
  error,
  children,
}: {
  id: string;
  label: ReactNode;
  /** A control next to the label. */
  action?: ReactNode;
  hint?: ReactNode;
  error?: string | undefined;
  children: ReactNode;
}) {
  return (
    <div className="flex flex-col gap-1.5">
      <div className="flex items-center justify-between gap-4">
        <label htmlFor={id} className="font-medium text-sm">
          {label}
        </label>
        {action}
      </div>
      {children}
      {error ? (
        <p id={`${id}-note`} role="alert" className="text-bad text-sm">
          {error}
        </p>
      ) : (
        hint && (
          <p id={`${id}-note`} className="text-faint text-xs">
            {hint}
          </p>
        )
      )}
    </div>
  );
}
