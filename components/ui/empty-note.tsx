import type { ReactNode } from "react";

/** Shows, in an empty area, what will appear there and when. */
export function EmptyNote({
  icon,
  title,
  action,
  children,
}: {
  icon: ReactNode;
  title: string;
  /** A button or link for the reader. */
  action?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center justify-center gap-1 px-6 py-8 text-center [&>svg]:mb-2 [&>svg]:size-5 [&>svg]:text-faint">
      {icon}
      <p className="font-medium text-sm">{title}</p>
      {children && (
        <p className="max-w-80 text-balance text-faint text-sm first-letter:uppercase [overflow-wrap:anywhere]">
          {children}
        </p>
      )}
      {action && <div className="mt-3">{action}</div>}
    </div>
  );
}
