import type { ReactNode } from "react";
import { Button } from "./ui/button.tsx";
import { Mark } from "./ui/mark.tsx";

/** Shows a page that contains only a message. */
export function MessagePage({
  title,
  children,
  action,
}: {
  title: string;
  children: ReactNode;
  action?: ReactNode;
}) {
  return (
    <main className="flex min-h-dvh items-center justify-center p-6">
      <div className="flex max-w-96 flex-col items-start gap-2">
        <span className="mb-2 text-accent">
          <Mark />
        </span>
        <h1 className="font-semibold text-lg">{title}</h1>
        <p className="text-soft">{children}</p>
        <div className="mt-4 flex flex-wrap gap-2">
          {action}
          <Button asChild>
            <a href="/">Go to the start page</a>
          </Button>
        </div>
      </div>
    </main>
  );
}
