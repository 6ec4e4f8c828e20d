import type { ReactNode } from "react";

/** Shows a sentence instead of the session. */
export function EmbedNote({
  title,
  detail,
  children,
}: {
  title: string;
  detail?: string;
  children?: ReactNode;
}) {
  return (
    <main className="flex h-dvh flex-col items-center justify-center gap-2 bg-canvas p-4 text-center">
      <h1 className="font-semibold text-base">{title}</h1>
      <p role="status" className="max-w-96 text-soft text-sm empty:hidden">
        {detail}
      </p>
      {children}
    </main>
  );
}
