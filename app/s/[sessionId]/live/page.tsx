import type { Metadata } from "next";
import { headers } from "next/headers";
import { notFound } from "next/navigation";
import { BareLive } from "#components/live/bare-live.tsx";
import { loadLivePage } from "#lib/api/next/mount.ts";

export const metadata: Metadata = { title: "Live browser" };

/** Shows a page with only the live browser of a session. The API returns the address of the page as `liveViewUrl`. */
export default async function LivePage({ params }: { params: Promise<{ sessionId: string }> }) {
  const snapshot = await loadLivePage((await params).sessionId, (await headers()).get("cookie"));
  if (!snapshot?.session.hasBrowser) notFound();
  return <BareLive snapshot={snapshot} />;
}
