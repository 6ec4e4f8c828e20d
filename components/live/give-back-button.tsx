"use client";

import type { ComponentProps } from "react";
import { Button } from "#components/ui/button.tsx";

/** The button that opens the form by which a person gives control back to the agent. */
export function GiveBackButton(props: Omit<ComponentProps<typeof Button>, "children">) {
  return (
    <Button size="sm" variant="primary" className="ml-1" {...props}>
      Give back
    </Button>
  );
}
