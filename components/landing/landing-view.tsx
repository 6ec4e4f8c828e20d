import { BookOpen, FlaskConical } from "lucide-react";
import { LinkMenu } from "#components/theme/link-menu.tsx";
import { Mark } from "#components/ui/mark.tsx";
import type { SignInProblem } from "#lib/page/labels/sign-in-problems.ts";
import type { Login, SessionSummary } from "#lib/page/state/view-types.ts";
import { LogOutButton } from "./log-out-button.tsx";
import { LoginList } from "./login-list.tsx";
import { RecentSessions } from "./recent-sessions.tsx";
import { SignInNote } from "./sign-in-note.tsx";
import { StartForm } from "./start-form.tsx";

/** The data of the landing page. */
type LandingPage = {
  signedIn: boolean;
  logins: Login[];
  /** URL that starts a sign-in with the identity provider; null if no identity provider is configured. */
  oidcPath: string | null;
  recent: SessionSummary[];
  model: { label: string; isDemo: boolean };
  demoUrl: string;
  baseUrl: string;
};

/** Shows the landing page, on which people start sessions and see their recent sessions. */
export function LandingView({ page, problem }: { page: LandingPage; problem: SignInProblem | undefined }) {
  return (
    <div className="min-h-dvh">
      <header className="flex h-12 items-center gap-3 border-b bg-surface pr-2 pl-4">
        <span className="text-accent">
          <Mark />
        </span>
        <p className="font-semibold text-base">Agent Session Service</p>
        <span className="flex-1" />
        <span className="truncate text-faint text-xs max-sm:hidden">{page.model.label}</span>
        {page.signedIn && <LogOutButton />}
        <LinkMenu href="/docs">
          <BookOpen /> API reference
        </LinkMenu>
      </header>
      <main className="mx-auto flex max-w-[1120px] flex-col gap-8 px-4 pt-8 pb-16 sm:px-6">
        {page.signedIn ? (
          <>
            {page.model.isDemo && <DemoModelStrip />}
            <StartForm demoUrl={page.demoUrl} baseUrl={page.baseUrl} />
            <RecentSessions sessions={page.recent} />
            <LoginList logins={page.logins} />
          </>
        ) : (
          <SignInNote problem={problem} oidcPath={page.oidcPath} />
        )}
      </main>
    </div>
  );
}

/** Tells the visitor that no real model is configured, and how to configure one. */
function DemoModelStrip() {
  return (
    <p className="flex items-start gap-2 rounded-lg bg-warn-soft px-3 py-2 text-sm">
      <FlaskConical aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
      <span className="text-soft">
        <span className="font-medium text-ink">The built-in demo model is running.</span> It uses the real
        browser and follows simple rules. For a real model, start the service with{" "}
        <code className="font-mono text-ink text-xs">OPENAI_API_KEY</code> set.
      </span>
    </p>
  );
}
