"use client";

import { KeyRound } from "lucide-react";
import type { ComponentProps } from "react";
import { Button } from "#components/ui/button.tsx";
import { lazily } from "#components/ui/lazily.tsx";
import { OnDemand } from "#components/ui/menu-button.tsx";

const load = async () => (await import("./key-sign-in-form.tsx")).KeySignInForm;
const KeySignInForm = lazily(load, <OpenButton aria-expanded />);

/** Shows a button that opens the form for a sign-in with an API key. */
export function KeySignIn() {
  return (
    <OnDemand popup="dialog" button={OpenButton} preload={() => void load().catch(() => {})}>
      <KeySignInForm />
    </OnDemand>
  );
}

function OpenButton({ "aria-haspopup": _, ...props }: ComponentProps<typeof Button>) {
  return (
    <Button {...props}>
      <KeyRound aria-hidden /> Sign in with an API key
    </Button>
  );
}
