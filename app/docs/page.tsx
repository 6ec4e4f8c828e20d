import type { Metadata } from "next";
import { headers } from "next/headers";
import { loadReference } from "#lib/api/next/mount.ts";
import { Reference } from "./reference.tsx";

export const metadata: Metadata = { title: "API reference" };

/** Shows the API reference, which is the OpenAPI document as a page. */
export default async function DocsPage() {
  // Reading the headers makes Next render the page for each request. A page from the build would lack the CSP nonce of
  // the request and the document of the running service.
  await headers();
  return <Reference document={await loadReference()} />;
}
