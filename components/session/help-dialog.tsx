"use client";

import { Dialog } from "#components/ui/dialog.tsx";
import { Kbd } from "#components/ui/kbd.tsx";
import { useSession } from "../runtime/session-context.tsx";

const KEYS: { keys: string[]; does: string; needsBrowser?: true }[] = [
  { keys: ["/"], does: "Write a message" },
  { keys: ["Enter"], does: "Send" },
  { keys: ["Ctrl", "Enter"], does: "Steer the running turn" },
  { keys: ["Shift", "Enter"], does: "New line" },
  { keys: ["Esc"], does: "Close the menu or window, leave the field or browser" },
  { keys: ["Esc", "Esc"], does: "Stop the agent, from outside a field or an empty message" },
  { keys: ["j"], does: "Next item of the conversation" },
  { keys: ["k"], does: "Previous item of the conversation" },
  { keys: ["b"], does: "Type and click in the browser", needsBrowser: true },
  { keys: ["Shift", "Esc"], does: "Send Esc to the page in the browser", needsBrowser: true },
  { keys: ["?"], does: "Show this help" },
];

/**
 * Shows the keyboard shortcuts of the page. If the session has a browser and the visitor may comment, also
 * explains how to annotate.
 */
export function HelpDialog({
  isOpen,
  onOpenChange,
  hasBrowser,
}: {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  hasBrowser: boolean;
}) {
  const { role } = useSession();
  return (
    <Dialog
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      title="Help"
      className="w-[min(480px,calc(100vw-32px))]"
    >
      <h3 className="mb-1 font-medium text-sm">Keyboard</h3>
      <dl className="flex flex-col">
        {KEYS.filter((key) => hasBrowser || !key.needsBrowser).map(({ keys, does }) => (
          <div key={does} className="flex min-h-8 items-center justify-between gap-4 text-sm">
            <dt className="text-soft">{does}</dt>
            <dd className="flex shrink-0 gap-1">
              {keys.map((key) => (
                <Kbd key={key}>{key}</Kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      {hasBrowser && role !== "view" && (
        <section className="mt-3 border-t pt-3 text-sm">
          <h3 className="font-medium">Annotate the page</h3>
          <p className="text-soft">
            Choose Annotate above the live page and mark an element, an area or a text. With the keyboard,
            arrow keys move a crosshair and Enter marks. Annotations have a tab below the browser.
          </p>
        </section>
      )}
    </Dialog>
  );
}
