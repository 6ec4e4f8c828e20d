import type { Metadata } from "next";
import { MessagePage } from "#components/message-page.tsx";

export const metadata: Metadata = { title: "Not found" };

/** The only 404 page. It does not show whether the address, the session or the link was invalid. */
export default function NotFound() {
  return (
    <MessagePage title="Nothing here">
      The address is wrong, or the link has expired or was revoked. Ask the sender for a new one.
    </MessagePage>
  );
}
