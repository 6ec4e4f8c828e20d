"use client";

import { type FormEvent, useEffect, useRef, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Field, Input } from "#components/ui/field.tsx";
import { logInWithKey } from "#lib/page/actions/key-actions.ts";

/** Shows the form that signs this browser in with an API key. */
export function KeySignInForm() {
  const [key, setKey] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  async function signIn(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (isBusy) return;
    if (key.trim() === "") return report("Paste an API key.");
    setBusy(true);
    const outcome = await logInWithKey(key.trim());
    if (outcome.isDone) return location.replace("/");
    setBusy(false);
    report(outcome.error.replace(/^apiKey: /, "The key "));
  }
  function report(text: string): void {
    setProblem(text);
    field.current?.focus();
  }
  return (
    <form onSubmit={(event) => void signIn(event)} noValidate className="flex w-full flex-col gap-2">
      <Field
        id="api-key"
        label="API key"
        hint="You see the sessions of the key's owner, for as long as the key is valid."
        error={problem}
      >
        {/* Not a password field: password managers must not offer to store the key for the service. */}
        <Input
          id="api-key"
          ref={field}
          type="text"
          autoComplete="off"
          autoCapitalize="off"
          autoCorrect="off"
          spellCheck={false}
          maxLength={1_000}
          value={key}
          placeholder="ask_…"
          aria-invalid={problem !== undefined}
          aria-describedby="api-key-note"
          onChange={(event) => {
            setKey(event.target.value);
            setProblem(undefined);
          }}
          className="font-mono [-webkit-text-security:disc]"
        />
      </Field>
      <Button type="submit" variant="primary" disabled={isBusy} className="self-start">
        Sign in
      </Button>
    </form>
  );
}
