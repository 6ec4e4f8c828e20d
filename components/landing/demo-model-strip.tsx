import { FlaskConical } from "lucide-react";

/** Says at the start that no real model is set, and how to set one. */
export function DemoModelStrip() {
  return (
    <p className="flex items-start gap-2 rounded-lg bg-warn-soft px-3 py-2 text-sm">
      <FlaskConical aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
      <span className="text-soft">
        <span className="font-medium text-ink">The built-in demo model is at work.</span> It really uses the
        browser, by simple rules. For a real model, start the service with{" "}
        <code className="font-mono text-ink text-xs">OPENAI_API_KEY</code> set.
      </span>
    </p>
  );
}
