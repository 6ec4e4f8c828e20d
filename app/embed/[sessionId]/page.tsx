import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { EmbedPage } from "#components/embed/embed-page.tsx";
import { isRoutedSessionId } from "#lib/api/contract/paths.ts";

export const metadata: Metadata = { title: "Session" };

/**
 * Shows a session in a frame of another site. The server sends the same page to everybody: the token is in the fragment
 * of the address, which only the page itself can read. Source: `wire.md`, Embedding.
 */
export default async function FramePage({ params }: { params: Promise<{ sessionId: string }> }) {
  const { sessionId } = await params;
  if (!isRoutedSessionId(sessionId)) notFound();
  return <EmbedPage sessionId={sessionId} />;
}
