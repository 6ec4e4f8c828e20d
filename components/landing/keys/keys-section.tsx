"use client";

import type { ComponentProps } from "react";
import { Button } from "#components/ui/button.tsx";
import { lazily } from "#components/ui/lazily.tsx";
import { OnDemand } from "#components/ui/menu-button.tsx";

const load = async () => (await import("./key-manager.tsx")).KeyManager;
const KeyManager = lazily(load, <ManageButton aria-expanded />);

/** Shows the section with the API keys. The keys are loaded when the operator opens the section. */
export function KeysSection() {
  return (
    <section aria-labelledby="keys" className="flex flex-col items-start gap-2">
      <h2 id="keys" className="font-semibold text-base">
        API keys
      </h2>
      <OnDemand popup="dialog" button={ManageButton} preload={() => void load().catch(() => {})}>
        <KeyManager />
      </OnDemand>
    </section>
  );
}

function ManageButton({ "aria-haspopup": _, ...props }: ComponentProps<typeof Button>) {
  return <Button {...props}>Manage API keys</Button>;
}
