"use client";

import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { Button, type ButtonProps } from "./button.tsx";
import { IconButton } from "./icon-button.tsx";

/** Shows a button that copies a text and confirms this for two seconds. Without `children`, the button is an icon. */
export function CopyButton({
  text,
  label = "Copy",
  children,
  ...props
}: Omit<ButtonProps, "onClick"> & { text: string | (() => string); label?: string }) {
  const [outcome, setOutcome] = useState<"copied" | "refused">();
  useEffect(() => {
    if (!outcome) return;
    const timer = setTimeout(() => setOutcome(undefined), 2_000);
    return () => clearTimeout(timer);
  }, [outcome]);
  async function copy(): Promise<void> {
    const isCopied = await copyText(typeof text === "string" ? text : text());
    setOutcome(isCopied ? "copied" : "refused");
  }
  const said =
    outcome === "copied" ? "Copied" : outcome === "refused" ? "The browser refused to copy" : label;
  const icon = outcome === "copied" ? <Check /> : <Copy />;
  if (children === undefined) {
    return (
      <IconButton label={said} size="icon-sm" {...props} onClick={copy}>
        {icon}
      </IconButton>
    );
  }
  return (
    <Button size="sm" {...props} onClick={copy}>
      {icon}
      <span aria-live="polite">{outcome ? said : children}</span>
    </Button>
  );
}

/**
 * Copies a text. @returns whether the text was copied. The browser may refuse, and a page without TLS has no clipboard.
 */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
