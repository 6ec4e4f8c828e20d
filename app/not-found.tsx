import type { Metadata } from "next";
import { MessagePage } from "#components/message-page.tsx";

export const metadata: Metadata = { title: "Not found" };

/** The one 404 page: an unknown address, an unknown session and a link that no longer counts all look the same. */
export default function NotFound() {
  return (
    <MessagePage title="Nothing here">
      The address is wrong, or the link has expired or was withdrawn. Ask whoever sent it for a new one.
    </MessagePage>
  );
}
