import { BookOpen, FlaskConical, KeyRound } from "lucide-react";
import { LinkMenu } from "#components/theme/link-menu.tsx";
import { Mark } from "#components/ui/mark.tsx";
import type { SignInProblem } from "#lib/page/labels/sign-in-problems.ts";
import type { Login, SessionSummary } from "#lib/page/state/view-types.ts";
import { KeysSection } from "./keys/keys-section.tsx";
import { LogOutButton } from "./log-out-button.tsx";
import { LoginList } from "./login-list.tsx";
import { SessionRow, SessionRows } from "./sessions/session-row.tsx";
import { SessionsSection } from "./sessions/sessions-section.tsx";
import { SignInNote } from "./sign-in/sign-in-note.tsx";
import { StartForm } from "./start-form.tsx";

/** The data of the landing page. */
type LandingPage = {
  /** Who is signed in; null for a visitor who is not. */
  person: { kind: "operator" } | KeyHolder | null;
  logins: Login[];
  /** URL that starts a sign-in with the identity provider; null if no identity provider is configured. */
  oidcPath: string | null;
  /** The newest sessions. */
  sessions: { data: SessionSummary[] };
  model: { label: string; isDemo: boolean };
  demoUrl: string;
  baseUrl: string;
};

/** A person who signed in with an API key, and what the key may still do. */
type KeyHolder = { kind: "key"; ownerId: string; access: "write" | "read" | "none" };

/** Shows the landing page, on which people start sessions and find, rename and delete them. */
export function LandingView({ page, problem }: { page: LandingPage; problem: SignInProblem | undefined }) {
  const { person } = page;
  const access = person?.kind === "key" ? person.access : "write";
  const mayWrite = access === "write";
  return (
    <div className="min-h-dvh">
      <header className="flex h-12 items-center gap-3 border-b bg-surface pr-2 pl-4">
        <span className="text-accent">
          <Mark />
        </span>
        <p className="font-semibold text-base">Agent Session Service</p>
        <span className="flex-1" />
        <span className="truncate text-faint text-xs max-sm:hidden">{page.model.label}</span>
        {person && <LogOutButton />}
        <LinkMenu href="/docs">
          <BookOpen /> API reference
        </LinkMenu>
      </header>
      <main className="mx-auto flex max-w-[1120px] flex-col gap-8 px-4 pt-8 pb-16 sm:px-6">
        {person ? (
          <>
            {page.model.isDemo && <DemoModelStrip />}
            {person.kind === "key" && <KeyStrip {...person} />}
            {mayWrite && <StartForm demoUrl={page.demoUrl} baseUrl={page.baseUrl} />}
            {access !== "none" && (
              <SessionsSection mayWrite={mayWrite}>
                <FirstSessions sessions={page.sessions.data} />
              </SessionsSection>
            )}
            {person.kind === "operator" && (
              <>
                <KeysSection />
                <LoginList logins={page.logins} />
              </>
            )}
          </>
        ) : (
          <SignInNote problem={problem} oidcPath={page.oidcPath} />
        )}
      </main>
    </div>
  );
}

/** Lists the newest sessions, until the live list has been loaded. */
function FirstSessions({ sessions }: { sessions: SessionSummary[] }) {
  if (sessions.length === 0)
    return (
      <p className="rounded-lg border border-line-strong border-dashed px-4 py-6 text-center text-faint text-sm">
        Sessions you start here or over the API appear in this list.
      </p>
    );
  return (
    <SessionRows>
      {sessions.map((session) => (
        <SessionRow key={session.id} session={session} />
      ))}
    </SessionRows>
  );
}

const ACCESS_SENTENCES: Record<KeyHolder["access"], string> = {
  write: "You see the sessions of this owner.",
  read: "The key may only read the sessions of this owner.",
  none: "The key may no longer read sessions. Log out to sign in with another one.",
};

/** Tells a person who signed in with an API key what the key gives access to. */
function KeyStrip({ ownerId, access }: KeyHolder) {
  return (
    <p className="flex items-start gap-2 rounded-lg border bg-surface px-3 py-2 text-sm text-soft">
      <KeyRound aria-hidden className="mt-0.5 size-4 shrink-0 text-faint" />
      <span className="min-w-0 [overflow-wrap:anywhere]">
        You are signed in with an API key of <span className="font-medium text-ink">{ownerId}</span>.{" "}
        {ACCESS_SENTENCES[access]}
      </span>
    </p>
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
