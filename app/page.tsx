import { headers } from "next/headers";
import { LandingView } from "#components/landing/landing-view.tsx";
import { loadLandingPage } from "#lib/api/next/mount.ts";

type Props = { searchParams: Promise<{ login?: string | string[] }> };

/** Starts sessions and finds recent ones; `/login` leads here with `login=expired` when its link no longer works. */
export default async function LandingPage({ searchParams }: Props) {
  const page = await loadLandingPage((await headers()).get("cookie"));
  return <LandingView page={page} isLinkExpired={(await searchParams).login === "expired"} />;
}
