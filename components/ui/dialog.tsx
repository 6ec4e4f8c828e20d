"use client";

import { setNonce } from "get-nonce";
import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type ReactNode, useRef } from "react";
import { cn } from "./cn.ts";
import { IconButton } from "./icon-button.tsx";

// Passes the page's nonce to Radix. The Content-Security-Policy would otherwise block the style element that Radix adds
// while a dialog is open.
if (typeof document !== "undefined")
  setNonce(document.querySelector<HTMLScriptElement>("script[nonce]")?.nonce ?? "");

/**
 * Shows a modal dialog. Esc, the close button and a click outside close the dialog. The focus then returns to the
 * element that had it before.
 */
export function Dialog({
  isOpen,
  onOpenChange,
  title,
  className,
  children,
}: {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  title: string;
  className?: string;
  children: ReactNode;
}) {
  const opener = useRef<Element | null>(null);
  return (
    <Radix.Root open={isOpen} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/45" />
        <Radix.Content
          aria-describedby={undefined}
          onOpenAutoFocus={(event) => {
            // Focuses the dialog itself. By default, Radix focuses the close button, and the tooltip of the button
            // opens.
            event.preventDefault();
            opener.current = findOpener();
            if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (opener.current instanceof HTMLElement) opener.current.focus();
          }}
          className={cn(
            "fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100dvh-32px)] w-[min(480px,calc(100vw-32px))] -translate-x-1/2 -translate-y-1/2 flex-col rounded-xl border border-line bg-raised shadow-(color:--shadow-color) shadow-2xl outline-none",
            className,
          )}
        >
          <div className="flex h-12 shrink-0 items-center justify-between gap-4 border-b pr-2 pl-4">
            <Radix.Title className="truncate font-semibold text-base">{title}</Radix.Title>
            <Radix.Close asChild>
              <IconButton label="Close">
                <X />
              </IconButton>
            </Radix.Close>
          </div>
          {/* The scroll padding keeps focused elements visible above a bar at the bottom of the dialog. */}
          <div className="min-h-0 scroll-pb-14 overflow-auto p-4">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/**
 * Finds the element that gets the focus when the dialog closes: the element that has the focus now. If that element is
 * in a menu, finds the button of the menu instead, because the menu closes.
 */
function findOpener(): Element | null {
  const focused = document.activeElement;
  const menu = focused?.closest("[role=menu]");
  return menu ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "") : focused;
}
