import type { Metadata } from "next";
import { headers } from "next/headers";
import { notFound } from "next/navigation";
import { cache } from "react";
import { SessionView } from "#components/session/session-view.tsx";
import { loadSessionPage } from "#lib/api/next/mount.ts";

type Props = { params: Promise<{ sessionId: string; agentId: string }> };

/** Loads the snapshot of the page. Cached per request, because the title and the page both need the snapshot. */
const load = cache(async (sessionId: string, agentId: string) =>
  loadSessionPage(sessionId, (await headers()).get("cookie"), agentId),
);

/** Shows the sub-agent's name as the title of the browser's tab. */
export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { sessionId, agentId } = await params;
  const snapshot = await load(sessionId, agentId);
  return { title: snapshot?.agent?.name ?? "Not found" };
}

/** Shows the page of a sub-agent. Every visitor who can open the session's page can open this page. */
export default async function AgentPage({ params }: Props) {
  const { sessionId, agentId } = await params;
  const snapshot = await load(sessionId, agentId);
  if (!snapshot) notFound();
  return <SessionView key={agentId} snapshot={snapshot} />;
}
