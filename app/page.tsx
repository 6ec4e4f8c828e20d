import { headers } from "next/headers";
import { LandingView } from "#components/landing/landing-view.tsx";
import { loadLandingPage } from "#lib/api/next/mount.ts";
import { SIGN_IN_PROBLEMS } from "#lib/page/labels/sign-in-problems.ts";

type Props = { searchParams: Promise<{ login?: string | string[] }> };

/**
 * Shows the landing page, on which people start sessions and see recent ones. A failed sign-in redirects to this page,
 * with the reason in `login`.
 */
export default async function LandingPage({ searchParams }: Props) {
  const { login } = await searchParams;
  const page = await loadLandingPage((await headers()).get("cookie"));
  return <LandingView page={page} problem={SIGN_IN_PROBLEMS.find((word) => word === login)} />;
}
