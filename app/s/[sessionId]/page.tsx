import type { Metadata } from "next";
import { headers } from "next/headers";
import { notFound } from "next/navigation";
import { cache } from "react";
import { SessionView } from "#components/session/session-view.tsx";
import { loadSessionPage } from "#lib/api/next/mount.ts";

type Props = { params: Promise<{ sessionId: string }> };

/** Loads the snapshot of the page. Cached per request, because the title and the page both need the snapshot. */
const load = cache(async (sessionId: string) => loadSessionPage(sessionId, (await headers()).get("cookie")));

/** Shows the session's title as the title of the browser's tab. */
export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const snapshot = await load((await params).sessionId);
  return { title: snapshot?.session.title ?? "Not found" };
}

/**
 * Shows the page of a session. The API returns the address of the page as `shareUrl`. Visitors without the session's
 * cookie get a 404.
 */
export default async function SessionPage({ params }: Props) {
  const snapshot = await load((await params).sessionId);
  if (!snapshot) notFound();
  return <SessionView snapshot={snapshot} />;
}
