import { headers } from "next/headers";
import { LandingView } from "#components/landing/landing-view.tsx";
import { loadLandingPage } from "#lib/api/mount.ts";

/** Starts sessions and finds recent ones. */
export default async function LandingPage() {
  return <LandingView page={await loadLandingPage((await headers()).get("cookie"))} />;
}
