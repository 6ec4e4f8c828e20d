import type { Metadata } from "next";
import { headers } from "next/headers";
import { notFound } from "next/navigation";
import { BareLive } from "#components/live/bare-live.tsx";
import { loadLivePage } from "#lib/api/next/mount.ts";

export const metadata: Metadata = { title: "Live browser" };

/** Shows the page at `liveViewUrl`, which contains only the live browser. */
export default async function LivePage({ params }: { params: Promise<{ sessionId: string }> }) {
  const snapshot = await loadLivePage((await params).sessionId, (await headers()).get("cookie"));
  if (!snapshot?.session.hasBrowser) notFound();
  return <BareLive snapshot={snapshot} />;
}
