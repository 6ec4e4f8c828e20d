import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { LogInButton } from "#components/landing/log-in-button.tsx";
import { MessagePage } from "#components/message-page.tsx";

export const metadata: Metadata = { title: "Sign in" };

type Props = { searchParams: Promise<{ token?: string | string[] }> };

/**
 * Shows the page that a login link opens. Opening it changes nothing, because browsers prefetch links and chat programs
 * open them for previews. The button signs in.
 */
export default async function LoginPage({ searchParams }: Props) {
  const { token } = await searchParams;
  if (typeof token !== "string" || token === "") redirect("/");
  return (
    <MessagePage title="Sign in to Agent Session Service" action={<LogInButton token={token} />}>
      The link signs one browser in, once. Signed in, you can start sessions here and see recent ones.
    </MessagePage>
  );
}
