import { BookOpen } from "lucide-react";
import { Mark } from "#components/session/mark.tsx";
import { LinkMenu } from "#components/theme/link-menu.tsx";
import { DemoModelStrip } from "./demo-model-strip.tsx";
import type { LandingPage } from "./landing-page.ts";
import { RecentSessions } from "./recent-sessions.tsx";
import { SignInNote } from "./sign-in-note.tsx";
import { StartForm } from "./start-form.tsx";

/** The landing page: a tool for starting sessions and coming back to them. */
export function LandingView({ page, isLinkExpired }: { page: LandingPage; isLinkExpired: boolean }) {
  return (
    <div className="min-h-dvh">
      <header className="flex h-12 items-center gap-3 border-b bg-surface pr-2 pl-4">
        <span className="text-accent">
          <Mark />
        </span>
        <p className="font-semibold text-base">Agent Session Service</p>
        <span className="flex-1" />
        <span className="truncate text-faint text-xs max-sm:hidden">{page.model.label}</span>
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
          </>
        ) : (
          <SignInNote isLinkExpired={isLinkExpired} />
        )}
      </main>
    </div>
  );
}
