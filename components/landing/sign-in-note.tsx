import { KeyRound } from "lucide-react";

/** What a visitor sees who has not opened the login link. */
export function SignInNote() {
  return (
    <section className="mx-auto mt-[12dvh] flex max-w-[480px] flex-col items-start gap-2">
      <KeyRound aria-hidden className="mb-2 size-5 text-faint" />
      <h1 className="font-semibold text-lg">Open the login link</h1>
      <p className="text-soft">
        Starting sessions here needs the login link printed where the service was started; it signs this
        browser in, once.
      </p>
      <p className="text-faint text-sm">
        Programs use an API key instead, and links to single sessions work without a login.
      </p>
    </section>
  );
}
