import type { Metadata } from "next";
import { MessagePage } from "#components/message-page.tsx";

export const metadata: Metadata = { title: "Not found" };

/** Shows the only 404 page. The page does not reveal whether the address, the session or the link was invalid. */
export default function NotFound() {
  return (
    <MessagePage title="Nothing here">
      The address is wrong, or the link has expired or was revoked. Ask the sender for a new one.
    </MessagePage>
  );
}
