import { type ReactNode, useId } from "react";
import { cn } from "../../ui/cn.ts";

/** Shows a section of the publish dialog with a heading. */
export function PublishPart({
  title,
  isFirst = false,
  children,
}: {
  title: string;
  isFirst?: boolean;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section aria-labelledby={id} className={cn("flex flex-col gap-2", !isFirst && "border-t pt-4")}>
      <h3 id={id} className="font-medium text-sm">
        {title}
      </h3>
      {children}
    </section>
  );
}
